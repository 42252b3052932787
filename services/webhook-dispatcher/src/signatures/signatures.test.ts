import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { parseEncryptionKeys } from './encryption-keys.ts';
import { createSecretBox, newSigningSecret } from './secret-box.ts';
import { signDelivery } from './sign-delivery.ts';

const owner = { clientId: 'app_one', generation: 3 };
const keyText = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

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
  const first = keyText('first');
  const second = keyText('second');

  test('open again, and differ each time', () => {
    const box = createSecretBox(parseEncryptionKeys([first]));
    const secret = newSigningSecret();
    const one = box.seal(secret, owner);
    const other = box.seal(secret, owner);
    expect(box.open(one, owner)).toBe(secret);
    expect(one.sealed.equals(other.sealed)).toBe(false);
    expect(one.sealed.includes(secret)).toBe(false);
  });

  test('do not open in another row, another generation, or with a changed byte', () => {
    const box = createSecretBox(parseEncryptionKeys([first]));
    const sealed = box.seal('whsec_x', owner);
    expect(() => box.open(sealed, { ...owner, clientId: 'app_two' })).toThrow();
    expect(() => box.open(sealed, { ...owner, generation: 4 })).toThrow();
    for (const index of [0, 13, sealed.sealed.length - 1]) {
      const changed = Buffer.from(sealed.sealed);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => box.open({ ...sealed, sealed: changed }, owner)).toThrow();
    }
  });

  test('survive a key rotation while the old key is configured', () => {
    const sealed = createSecretBox(parseEncryptionKeys([first])).seal('whsec_x', owner);
    const rotated = createSecretBox(parseEncryptionKeys([second, first]));
    expect(rotated.currentKeyId).toBe('second');
    expect(rotated.open(sealed, owner)).toBe('whsec_x');
    expect(() => createSecretBox(parseEncryptionKeys([second])).open(sealed, owner)).toThrow('is not configured');
  });
});

describe('encryption keys', () => {
  const bytes = randomBytes(32);

  test('are accepted in base64, base64url and hex, with a given or derived id', () => {
    const forms = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
    const [plain, url, hex] = forms.map((form) => parseEncryptionKeys([form])[0]);
    expect(plain?.key.equals(bytes)).toBe(true);
    expect(url).toEqual(plain);
    expect(hex).toEqual(plain);
    expect(parseEncryptionKeys([`k1:${forms[0]}`])[0].id).toBe('k1');
  });

  test.each([['short'], [''], ['a:b:c'], [randomBytes(16).toString('base64')]])(
    '%j is refused without a quote of the entry',
    (entry) => {
      expect(() => parseEncryptionKeys([entry])).toThrow(/^expected/);
    },
  );

  test('must have different ids', () => {
    expect(() => parseEncryptionKeys([`a:${bytes.toString('hex')}`, `a:${bytes.toString('base64')}`])).toThrow(
      'different',
    );
  });
});
