import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { readOwnSignature, readStandardSignature, signWebhook, type WebhookHeaders } from './signature.ts';
import { type VerifyWebhookOptions, verifyAccountWebhook, verifyWebhook } from './verify-webhook.ts';
import { UnknownWebhookEventError, WebhookRejectedError } from './webhook-errors.ts';

const SECRET = 'whsec_c2VjcmV0';
const NOW = new Date('2026-10-01T12:00:00Z');
const SECONDS = NOW.getTime() / 1000;
const EVENT = {
  api_version: '2026-10-01',
  event_id: 'evt_1',
  event: 'integration.test',
  integration_id: 'app_1',
  sequence: 1,
  created: SECONDS,
  user: { svc_user_id: 'usr_1' },
  data: { message: 'Ciao, è un test 🦆' },
};
const BODY = Buffer.from(JSON.stringify(EVENT));

const hmac = (body: Uint8Array, secret = SECRET, seconds: number | string = SECONDS): string =>
  createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
const headerOf = (body: Uint8Array, secret = SECRET, seconds: number | string = SECONDS): string =>
  `t=${seconds},v1=${hmac(body, secret, seconds)}`;

const verify = (
  body: Uint8Array | string,
  header: WebhookHeaders,
  more: VerifyWebhookOptions & { secret?: string[] } = {},
) => verifyWebhook(body, header, more.secret ?? SECRET, { now: NOW, ...more });

const rejectionOf = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work();
  } catch (error) {
    return error instanceof WebhookRejectedError ? error.reason : String(error);
  }
  return 'accepted';
};

describe('verifyAccountWebhook', () => {
  const { integration_id: _app, user: _user, ...members } = EVENT;
  const event = {
    ...members,
    event: 'wallet.low',
    account_id: 'usr_1',
    data: { balance_micros: 1_900_000, below_micros: 2_000_000, currency: 'EUR' },
  };
  const body = Buffer.from(JSON.stringify(event));
  const verifyAccount = (bytes: Uint8Array, accountId?: string) =>
    verifyAccountWebhook(bytes, headerOf(bytes), SECRET, { now: NOW, accountId });

  test('returns the event of a signed body, and rejects one for another account or an app', async () => {
    expect(await verifyAccount(body, 'usr_1')).toEqual(event);
    expect(await rejectionOf(() => verifyAccount(body, 'usr_2'))).toBe('account_mismatch');
    expect(await rejectionOf(() => verifyAccount(BODY))).toBe('body_malformed');
    expect(await rejectionOf(() => verify(body, headerOf(body)))).toBe('body_malformed');
    expect(await rejectionOf(() => verifyAccountWebhook(body, headerOf(BODY), SECRET, { now: NOW }))).toBe(
      'signature_mismatch',
    );
  });

  test('throws for a kind that this release does not know', async () => {
    const later = Buffer.from(JSON.stringify({ ...event, event: 'wallet.later', data: {} }));
    await expect(verifyAccount(later)).rejects.toThrow(UnknownWebhookEventError);
  });
});

test('signWebhook signs as the service does, in both forms', async () => {
  const { body, headers } = await signWebhook(EVENT as never, SECRET, { now: NOW });
  expect(headers['x-svc-signature']).toBe(headerOf(BODY));
  expect(await verify(body, headers)).toEqual(EVENT);
  const { 'x-svc-signature': _, ...standard } = headers;
  expect(await verify(body, standard)).toEqual(EVENT);
});

describe('verifyWebhook', () => {
  test('returns the event of a signed body, given as bytes or as text', async () => {
    expect(await verify(BODY, headerOf(BODY))).toEqual(EVENT);
    expect(await verify(BODY.toString('utf8'), headerOf(BODY), { integrationId: 'app_1' })).toEqual(EVENT);
  });

  test('accepts a signature made by another implementation of HMAC-SHA256', async () => {
    const signature = '6a199dad3b8658a1a9f759fa32fbb65ceb9a7d48ff4d25fc30ff3758c70d16e7';
    const body = '{"hello":"world"}';
    // The signature is right, so the check reaches the body, which is not an event.
    expect(await rejectionOf(() => verify(body, `t=1790856000,v1=${signature}`))).toBe('body_malformed');
  });

  test('rejects a body, time or signature with any byte changed', async () => {
    const header = headerOf(BODY);
    for (let at = 0; at < BODY.length; at += 7) {
      const changed = Buffer.from(BODY);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(await rejectionOf(() => verify(changed, header))).toBe('signature_mismatch');
    }
    expect(await rejectionOf(() => verify(BODY, header.replace(`t=${SECONDS}`, `t=${SECONDS + 1}`)))).toBe(
      'signature_mismatch',
    );
    expect(await rejectionOf(() => verify(BODY, headerOf(BODY, 'whsec_other')))).toBe('signature_mismatch');
  });

  test('checks the signature before it parses the body', async () => {
    const body = Buffer.from('{');
    expect(await rejectionOf(() => verify(body, headerOf(BODY)))).toBe('signature_mismatch');
    expect(await rejectionOf(() => verify(body, headerOf(body)))).toBe('body_malformed');
    const notUtf8 = Buffer.from([0x22, 0xff, 0x22]);
    expect(await rejectionOf(() => verify(notUtf8, headerOf(notUtf8)))).toBe('body_malformed');
  });

  test('accepts a time up to 300 seconds off, in both directions', async () => {
    for (const seconds of [SECONDS - 300, SECONDS + 300])
      expect(await verify(BODY, headerOf(BODY, SECRET, seconds))).toEqual(EVENT);
    for (const seconds of [SECONDS - 301, SECONDS + 301, 0]) {
      expect(await rejectionOf(() => verify(BODY, headerOf(BODY, SECRET, seconds)))).toBe('timestamp_out_of_tolerance');
    }
    expect(await rejectionOf(() => verify(BODY, headerOf(BODY, SECRET, SECONDS - 11), { toleranceSeconds: 10 }))).toBe(
      'timestamp_out_of_tolerance',
    );
    expect(await rejectionOf(() => verify(BODY, headerOf(BODY), { toleranceSeconds: Number.NaN }))).toBe(
      'timestamp_out_of_tolerance',
    );
  });

  test('accepts any of several signatures and secrets while a secret is being replaced', async () => {
    const both = `t=${SECONDS},v1=${hmac(BODY, 'whsec_new')},v1=${hmac(BODY)}`;
    expect(await verify(BODY, both)).toEqual(EVENT);
    expect(await verify(BODY, headerOf(BODY), { secret: ['whsec_new', SECRET] })).toEqual(EVENT);
    expect(await rejectionOf(() => verify(BODY, both, { secret: ['whsec_third'] }))).toBe('signature_mismatch');
  });

  test('rejects an event for another app', async () => {
    expect(await rejectionOf(() => verify(BODY, headerOf(BODY), { integrationId: 'app_2' }))).toBe(
      'integration_mismatch',
    );
  });

  test('distinguishes an unknown kind of event from a malformed event', async () => {
    const body = Buffer.from(JSON.stringify({ ...EVENT, event: 'subscription.paused', data: { anything: 1 } }));
    await expect(verify(body, headerOf(body))).rejects.toBeInstanceOf(UnknownWebhookEventError);
    const wrong = Buffer.from(JSON.stringify({ ...EVENT, data: {} }));
    expect(await rejectionOf(() => verify(wrong, headerOf(wrong)))).toBe('body_malformed');
  });

  test('rejects a missing header, several headers, and an oversized body', async () => {
    expect(await rejectionOf(() => verifyWebhook(BODY, undefined, SECRET))).toBe('signature_missing');
    expect(await rejectionOf(() => verifyWebhook(BODY, '', SECRET))).toBe('signature_missing');
    expect(await rejectionOf(() => verifyWebhook(BODY, [headerOf(BODY), headerOf(BODY)], SECRET))).toBe(
      'signature_malformed',
    );
    const large = Buffer.alloc(1024 * 1024 + 1, 0x20);
    expect(await rejectionOf(() => verify(large, headerOf(large)))).toBe('body_too_large');
  });

  test('throws a TypeError for an empty secret, which would make every signature forgeable', async () => {
    await expect(verifyWebhook(BODY, headerOf(BODY, ''), '')).rejects.toBeInstanceOf(TypeError);
    await expect(verifyWebhook(BODY, headerOf(BODY, ''), [])).rejects.toBeInstanceOf(TypeError);
    await expect(verifyWebhook(BODY, headerOf(BODY, ''), [SECRET, ''])).rejects.toBeInstanceOf(TypeError);
    // A caller without types passes the output of a parser.
    const parsed: unknown = EVENT;
    await expect(verifyWebhook(parsed as Uint8Array, headerOf(BODY), SECRET)).rejects.toBeInstanceOf(TypeError);
  });

  test('accepts what a stock library of Standard Webhooks has signed, in any kind of header object', async () => {
    const seconds = String(SECONDS);
    const signature = new Webhook(SECRET).sign('evt_1', NOW, BODY.toString('utf8'));
    const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': seconds, 'webhook-signature': signature };
    expect(await verify(BODY, headers)).toEqual(EVENT);
    expect(await verify(BODY, new Headers(headers))).toEqual(EVENT);
    expect(await verify(BODY, { ...headers, 'webhook-signature': `v1a,AAAA ${signature}` })).toEqual(EVENT);
    expect(await rejectionOf(() => verify(BODY, { ...headers, 'webhook-id': 'evt_2' }))).toBe('signature_mismatch');
    expect(await rejectionOf(() => verify(BODY, headers, { secret: ['whsec_b3RoZXI='] }))).toBe('signature_mismatch');
    expect(await rejectionOf(() => verify(BODY, { ...headers, 'X-Svc-Signature': 't=1,v1=x' }))).toBe(
      'signature_malformed',
    );
    expect(await verify(BODY, { 'X-Svc-Signature': headerOf(BODY) })).toEqual(EVENT);
  });
});

describe('readStandardSignature', () => {
  const signature = `v1,${'A'.repeat(43)}=`;
  const read = (more: object) => readStandardSignature({ id: 'evt_1', timestamp: '1', signature, ...more });

  test.each([
    { id: '' },
    { id: 'a b' },
    { timestamp: '01' },
    { timestamp: '-1' },
    { signature: 'v1a,AAAA' },
    { signature: `v1,${'A'.repeat(44)}=` },
    { signature: 'v1,AAAA' },
    { signature: `${signature}, ${signature}` },
    { signature: `${signature} ` },
    { signature: Array.from({ length: 9 }, () => signature).join(' ') },
  ])('refuses %j', (wrong) => {
    expect(read({})).toBeDefined();
    expect(read(wrong)).toBeUndefined();
  });
});

describe('readOwnSignature', () => {
  const hex = 'a'.repeat(64);

  test('reads the time as written and every v1, and ignores other versions', () => {
    expect(readOwnSignature(`t=1790856000,v1=${hex}`)).toMatchObject({
      timestamp: '1790856000',
      signatures: [new Uint8Array(Buffer.from(hex, 'hex'))],
    });
    expect(readOwnSignature(`t=1,v2=anything+/=,v1=${hex},v1=${hex}`)?.signatures).toHaveLength(2);
  });

  test.each([
    '',
    `v1=${hex}`,
    't=1',
    't=1,',
    `t=,v1=${hex}`,
    `t=01,v1=${hex}`,
    `t=-1,v1=${hex}`,
    `t=1.5,v1=${hex}`,
    `t=1e3,v1=${hex}`,
    `t=1234567890123,v1=${hex}`,
    `t=1,t=2,v1=${hex}`,
    `v1=${hex},t=1`,
    `t=1, v1=${hex}`,
    ` t=1,v1=${hex}`,
    `t=1,v1=${hex} `,
    `t=1,v1=${hex},`,
    `t=1,v1=${hex.toUpperCase()}`,
    `t=1,v1=${hex.slice(2)}`,
    `t=1,v1=${hex}aa`,
    `t=1,v1=${hex},v1=${hex.slice(1)}`,
    `t=1,v1=${'g'.repeat(64)}`,
    `t=1,v2=${hex}`,
    `t=1,x=1,v1=${hex}`,
    `t=1,v1=${hex}\n`,
    `t=1${`,v1=${hex}`.repeat(9)}`,
    `t=1,v1=${hex},v2=${'x'.repeat(1000)}`,
  ])('refuses %j', (header) => {
    expect(readOwnSignature(header)).toBeUndefined();
  });
});
