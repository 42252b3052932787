import { newId } from '@svc/contracts';
import { freePort, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enqueueMail, type Mail } from '../src/mail/index.ts';
import {
  type AuthService,
  mailSealer,
  newEmail,
  restartAuthService,
  startAuthService,
} from './support/auth-service.ts';
import { call } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { newPerson } from './support/partner.ts';

let service: AuthService;
let mailbox: Mailbox;

beforeAll(async () => {
  mailbox = await startMailbox();
  service = await startAuthService({ MAIL_URL: mailbox.url });
});
afterAll(async () => {
  await service?.stop();
  await mailbox?.stop();
});

const newMail = async (of: AuthService = service): Promise<Mail> => {
  const { userId } = await newPerson(of);
  return { kind: 'reset_password', userId, to: newEmail(), locale: 'it', data: { token: 'a-token-of-the-test' } };
};
const enqueue = (mail: Mail, of: AuthService = service) =>
  of.database.transaction((trx) => enqueueMail({ clock: of.clock, newId, mailSealer }, trx, mail));
const rowsTo = (to: string, of: AuthService = service) => of.database('mails').where({ recipient: to });

test('sends a mail once after its transaction has committed, and deletes its data', async () => {
  const mail = await newMail();
  await enqueue(mail);
  await waitFor(async () => (await rowsTo(mail.to))[0]?.sent_at !== null);
  expect(mailbox.mailsTo(mail.to)).toMatchObject([
    {
      to: mail.to,
      subject: 'Scegli una nuova password',
      links: [`${service.url}/reset-password?token=a-token-of-the-test`],
    },
  ]);
  expect(await rowsTo(mail.to)).toMatchObject([{ attempts: 1, sealed_data: null, due_at: null }]);
});

test('sends the link that confirms the address after a sign-up, also where confirming is optional', async () => {
  const { email, token } = await newPerson(service);
  const proof = await mailbox.tokenFor(email, 'verify-email');
  // Anyone can type any address.
  expect(mailbox.mailsTo(email)[0]?.text).toMatch(/have not signed up|non ti sei iscritto/i);
  const confirmed = await call(`${service.url}/v1/console/account/verification/confirm`, {
    token,
    json: { token: proof },
  });
  expect(confirmed.body).toMatchObject({ account: { email, email_verified: true } });
});

test('sends nothing when the transaction rolls back', async () => {
  const lost = await newMail();
  const kept = await newMail();
  await service.database
    .transaction(async (trx) => {
      await enqueueMail({ clock: service.clock, newId, mailSealer }, trx, lost);
      throw new Error('rolled back');
    })
    .catch(() => undefined);
  await enqueue(kept);
  await waitFor(() => mailbox.mailsTo(kept.to).length === 1);
  expect(mailbox.mailsTo(lost.to)).toEqual([]);
});

test('stores waiting data encrypted, and logs neither address nor token while the mail server is away', async () => {
  const offline = await startAuthService({ MAIL_URL: 'smtp://127.0.0.1:1' });
  try {
    const mail = await newMail(offline);
    await enqueue(mail, offline);
    await waitFor(async () => (await rowsTo(mail.to, offline))[0]?.error_code !== null);
    const [row] = await rowsTo(mail.to, offline);
    expect(row.sealed_data.toString('latin1')).not.toContain('a-token-of-the-test');
    expect(row.error_code).toMatch(/^E/);
    expect(offline.logs()).not.toContain(mail.to);
    expect(offline.logs()).not.toContain('a-token-of-the-test');
  } finally {
    await offline.stop();
  }
});

test('sends waiting mails when the mail server is back, each once across replicas', async () => {
  const smtpPort = await freePort();
  const waiting = await startAuthService({ MAIL_URL: `smtp://127.0.0.1:${smtpPort}` });
  const replica = await restartAuthService(waiting);
  let server: Mailbox | undefined;
  try {
    const mails = await Promise.all(Array.from({ length: 6 }, () => newMail(waiting)));
    for (const mail of mails) await enqueue(mail, waiting);
    await waitFor(async () => (await waiting.database('mails').where('attempts', 0)).length === 0);
    server = await startMailbox(smtpPort);
    waiting.clock.advanceMs(3_600_000);
    await waitFor(async () => (await waiting.database('mails').whereNull('sent_at')).length === 0);
    for (const { to } of mails) expect(server.mailsTo(to)).toHaveLength(1);
  } finally {
    await replica.stop();
    await waiting.stop();
    await server?.stop();
  }
});

test('limits the requested mails of one kind per account and hour, to any address', async () => {
  const mail = await newMail();
  const outcomes = [];
  for (let tries = 0; tries < 11; tries += 1) outcomes.push(await enqueue({ ...mail, to: newEmail() }));
  expect(outcomes.filter((outcome) => outcome === 'queued')).toHaveLength(10);
  expect(outcomes.at(-1)).toBe('limited');
});

test('limits the mails of one kind per address and hour', async () => {
  const mail = await newMail();
  const outcomes = [];
  for (let tries = 0; tries < 7; tries += 1) outcomes.push(await enqueue(mail));
  expect(outcomes).toEqual(['queued', 'queued', 'queued', 'queued', 'queued', 'limited', 'limited']);
  expect(await rowsTo(mail.to)).toHaveLength(5);
});
