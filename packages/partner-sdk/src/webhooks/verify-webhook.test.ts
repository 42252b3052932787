import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readSignatureHeader } from './signature-header.ts';
import { type VerifyWebhookOptions, verifyWebhook } from './verify-webhook.ts';
import { UnknownWebhookEventError, WebhookRejectedError } from './webhook-rejected-error.ts';

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

const verify = (body: Uint8Array | string, header: string, more: VerifyWebhookOptions & { secret?: string[] } = {}) =>
  verifyWebhook(body, header, more.secret ?? SECRET, { now: NOW, ...more });

const rejectionOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return error instanceof WebhookRejectedError ? error.reason : String(error);
  }
  return 'accepted';
};

describe('verifyWebhook', () => {
  test('returns the event of a signed body, given as bytes or as text', () => {
    expect(verify(BODY, headerOf(BODY))).toEqual(EVENT);
    expect(verify(BODY.toString('utf8'), headerOf(BODY), { integrationId: 'app_1' })).toEqual(EVENT);
  });

  test('accepts a signature made by another implementation of HMAC-SHA256', () => {
    const signature = '6a199dad3b8658a1a9f759fa32fbb65ceb9a7d48ff4d25fc30ff3758c70d16e7';
    const body = '{"hello":"world"}';
    // The signature is right, so the check reaches the body, which is not an event.
    expect(rejectionOf(() => verify(body, `t=1790856000,v1=${signature}`))).toBe('body_malformed');
  });

  test('rejects a body, time or signature with any byte changed', () => {
    const header = headerOf(BODY);
    for (let at = 0; at < BODY.length; at += 7) {
      const changed = Buffer.from(BODY);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(rejectionOf(() => verify(changed, header))).toBe('signature_mismatch');
    }
    expect(rejectionOf(() => verify(BODY, header.replace(`t=${SECONDS}`, `t=${SECONDS + 1}`)))).toBe(
      'signature_mismatch',
    );
    expect(rejectionOf(() => verify(BODY, headerOf(BODY, 'whsec_other')))).toBe('signature_mismatch');
  });

  test('checks the signature before it parses the body', () => {
    const body = Buffer.from('{');
    expect(rejectionOf(() => verify(body, headerOf(BODY)))).toBe('signature_mismatch');
    expect(rejectionOf(() => verify(body, headerOf(body)))).toBe('body_malformed');
    const notUtf8 = Buffer.from([0x22, 0xff, 0x22]);
    expect(rejectionOf(() => verify(notUtf8, headerOf(notUtf8)))).toBe('body_malformed');
  });

  test('accepts a time up to 300 seconds off, in both directions', () => {
    for (const seconds of [SECONDS - 300, SECONDS + 300])
      expect(verify(BODY, headerOf(BODY, SECRET, seconds))).toEqual(EVENT);
    for (const seconds of [SECONDS - 301, SECONDS + 301, 0]) {
      expect(rejectionOf(() => verify(BODY, headerOf(BODY, SECRET, seconds)))).toBe('timestamp_out_of_tolerance');
    }
    expect(rejectionOf(() => verify(BODY, headerOf(BODY, SECRET, SECONDS - 11), { toleranceSeconds: 10 }))).toBe(
      'timestamp_out_of_tolerance',
    );
    expect(rejectionOf(() => verify(BODY, headerOf(BODY), { toleranceSeconds: Number.NaN }))).toBe(
      'timestamp_out_of_tolerance',
    );
  });

  test('accepts any of several signatures and secrets while a secret is being replaced', () => {
    const both = `t=${SECONDS},v1=${hmac(BODY, 'whsec_new')},v1=${hmac(BODY)}`;
    expect(verify(BODY, both)).toEqual(EVENT);
    expect(verify(BODY, headerOf(BODY), { secret: ['whsec_new', SECRET] })).toEqual(EVENT);
    expect(rejectionOf(() => verify(BODY, both, { secret: ['whsec_third'] }))).toBe('signature_mismatch');
  });

  test('rejects an event for another app', () => {
    expect(rejectionOf(() => verify(BODY, headerOf(BODY), { integrationId: 'app_2' }))).toBe('integration_mismatch');
  });

  test('distinguishes an unknown kind of event from a malformed event', () => {
    const body = Buffer.from(JSON.stringify({ ...EVENT, event: 'subscription.paused', data: { anything: 1 } }));
    expect(() => verify(body, headerOf(body))).toThrow(UnknownWebhookEventError);
    const wrong = Buffer.from(JSON.stringify({ ...EVENT, data: {} }));
    expect(rejectionOf(() => verify(wrong, headerOf(wrong)))).toBe('body_malformed');
  });

  test('rejects a missing header, several headers, and an oversized body', () => {
    expect(rejectionOf(() => verifyWebhook(BODY, undefined, SECRET))).toBe('signature_missing');
    expect(rejectionOf(() => verifyWebhook(BODY, '', SECRET))).toBe('signature_missing');
    expect(rejectionOf(() => verifyWebhook(BODY, [headerOf(BODY)], SECRET))).toBe('signature_malformed');
    const large = Buffer.alloc(1024 * 1024 + 1, 0x20);
    expect(rejectionOf(() => verify(large, headerOf(large)))).toBe('body_too_large');
  });

  test('throws a TypeError for an empty secret, which would make every signature forgeable', () => {
    expect(() => verifyWebhook(BODY, headerOf(BODY, ''), '')).toThrow(TypeError);
    expect(() => verifyWebhook(BODY, headerOf(BODY, ''), [])).toThrow(TypeError);
    expect(() => verifyWebhook(BODY, headerOf(BODY, ''), [SECRET, ''])).toThrow(TypeError);
    // A caller without types passes the output of a parser.
    const parsed: unknown = EVENT;
    expect(() => verifyWebhook(parsed as Uint8Array, headerOf(BODY), SECRET)).toThrow(TypeError);
  });
});

describe('readSignatureHeader', () => {
  const hex = 'a'.repeat(64);

  test('reads the time as written and every v1, and ignores other versions', () => {
    expect(readSignatureHeader(`t=1790856000,v1=${hex}`)).toEqual({
      timestamp: '1790856000',
      signatures: [Buffer.from(hex, 'hex')],
    });
    expect(readSignatureHeader(`t=1,v2=anything+/=,v1=${hex},v1=${hex}`)?.signatures).toHaveLength(2);
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
    expect(readSignatureHeader(header)).toBeUndefined();
  });
});
