import { createHmac, randomBytes } from 'node:crypto';
import { openSecretKeys, SealBroken } from '@svc/secrets';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { createSecretBox, newSigningSecret, signDelivery } from './signatures.ts';

const owner = { ownerId: 'app_one', generation: 3 };

describe('the signature', () => {
  test('is the HMAC of timestamp, dot and raw bytes under the whole secret', () => {
    const secret = newSigningSecret();
    const body = Buffer.from('{"è":"\\u0000 é"}', 'utf8');
    const expected = createHmac('sha256', Buffer.from(secret)).update(`1790000000.${body.toString()}`).digest('hex');
    const headers = signDelivery({ eventId: 'evt_1', body, unixSeconds: 1_790_000_000, secrets: [secret] });
    expect(headers['x-svc-signature']).toBe(`t=1790000000,v1=${expected}`);
  });

  test.each([0, 1])('of each secret verifies with the Standard Webhooks library (secret %i)', (index) => {
    const secrets = [newSigningSecret(), newSigningSecret()];
    const body = Buffer.from('{"event":"integration.test"}');
    const unixSeconds = Math.floor(Date.now() / 1_000);
    const headers = signDelivery({ eventId: 'evt_1', body, unixSeconds, secrets });
    const verifier = new Webhook(secrets[index] ?? '');
    expect(verifier.verify(body.toString(), headers)).toEqual({ event: 'integration.test' });
    expect(() => verifier.verify(`${body} `, headers)).toThrow();
    expect(headers['x-svc-signature']?.split(',')).toHaveLength(3);
  });
});

describe('secrets at rest', () => {
  const keys = openSecretKeys('KEYS', [randomBytes(32).toString('base64')]);

  test('open again in their row, and in no other row or generation', () => {
    const box = createSecretBox(keys);
    const secret = newSigningSecret();
    const sealed = box.seal(secret, owner);
    expect(box.open(sealed, owner)).toBe(secret);
    expect(box.open(box.renew(sealed, owner), owner)).toBe(secret);
    expect(sealed.includes(secret)).toBe(false);
    expect(() => box.open(sealed, { ...owner, ownerId: 'app_two' })).toThrow(SealBroken);
    expect(() => box.open(sealed, { ...owner, generation: 4 })).toThrow(SealBroken);
  });
});
