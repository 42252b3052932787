import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxMail, startSandboxMail } from '../../src/mail/sandbox-mail.ts';

let mail: SandboxMail;

beforeAll(async () => {
  mail = await startSandboxMail({ host: '127.0.0.1', port: 0, smtpPort: 0 });
});
afterAll(() => mail.stop());

const MIB = 1024 ** 2;
const LINK = 'https://svc.example/verify-email?token=abc';

interface Sent {
  readonly to: string;
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly messageId?: string;
}

const send = async (sent: Sent): Promise<void> => {
  const transport = createTransport({ url: mail.smtpUrl });
  await transport.sendMail({ from: 'svc <svc@example.com>', subject: 'Hello', text: 'Hello.', ...sent });
  transport.close();
};

interface Listed {
  readonly data: readonly Record<string, unknown>[];
}

const messages = async (query: string): Promise<Listed> => {
  const answer = await fetch(`${mail.url}/sandbox/mail/messages${query}`);
  return (await answer.json()) as Listed;
};

describe('a mail', () => {
  test('can be read as JSON, with its links', async () => {
    await send({ to: 'Anna@Example.com', subject: 'Conferma l’indirizzo', text: `Apri ${LINK}` });
    expect((await messages('?to=anna@example.com')).data).toEqual([
      {
        id: expect.any(String),
        to: 'anna@example.com',
        subject: 'Conferma l’indirizzo',
        text: expect.stringContaining(LINK),
        html: '',
        links: [LINK],
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    ]);
  });

  test('appears newest first, and only to its recipient', async () => {
    await send({ to: 'first@example.com', subject: 'One' });
    await send({ to: 'first@example.com', subject: 'Two' });
    await send({ to: 'other@example.com', subject: 'Three' });
    const { data } = await messages('?to=first@example.com');
    expect(data.map(({ subject }) => subject)).toEqual(['Two', 'One']);
  });

  test('that is sent again with its Message-ID is there once', async () => {
    const messageId = '<mail_1@svc.example>';
    await send({ to: 'twice@example.com', messageId });
    await send({ to: 'twice@example.com', messageId });
    expect((await messages('?to=twice@example.com')).data.map(({ id }) => id)).toEqual(['mail_1@svc.example']);
  });

  test('beyond 5 MiB is refused', async () => {
    const text = `${'x'.repeat(70)}\n`.repeat(Math.ceil((6 * MIB) / 71));
    await expect(send({ to: 'large@example.com', text })).rejects.toMatchObject({ responseCode: 552 });
    expect((await messages('?to=large@example.com')).data).toEqual([]);
  });
});

describe('the inbox page', () => {
  test('shows mails as text, under a policy without scripts', async () => {
    await send({ to: 'markup@example.com', subject: '<script>alert(1)</script>' });
    const page = await fetch(`${mail.url}/sandbox/mail?to=markup@example.com`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await page.text();
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).not.toContain('<script>');
  });

  test('links addresses where they stand, and separates the signature', async () => {
    await send({ to: 'links@example.com', text: `See ${LINK} now.\n\n-- \nSent by svc.` });
    const text = await (await fetch(`${mail.url}/sandbox/mail?to=links@example.com`)).text();
    expect(text).toContain(`See <a href="${LINK}">${LINK}</a> now.</p>`);
    expect(text).toContain('<p class="closing">Sent by svc.</p>');
  });

  test('leads to the mail as HTML, which can run nothing and shares no origin with the product', async () => {
    await send({ to: 'html@example.com', html: '<p style="color:red">Hello</p>', messageId: '<mail+1@svc.example>' });
    const page = await (await fetch(`${mail.url}/sandbox/mail?to=html@example.com`)).text();
    const path = /\/sandbox\/mail\/html\?[^"]+/.exec(page)?.[0].replaceAll('&amp;', '&');
    const shown = await fetch(`${mail.url}${path}`);
    expect(await shown.text()).toContain('<p style="color:red">Hello</p>');
    expect(shown.headers.get('content-security-policy')).toMatch(
      /^sandbox; default-src 'none'; style-src 'unsafe-inline';/,
    );
  });

  test.each([
    ['GET', '/elsewhere', 404],
    ['GET', '/sandbox/mail/html?to=html@example.com&id=other', 404],
    ['DELETE', '/sandbox/mail/messages', 405],
    ['GET', '/healthz', 200],
  ])('answers %s %s with %i', async (method, path, status) => {
    expect((await fetch(`${mail.url}${path}`, { method })).status).toBe(status);
  });
});
