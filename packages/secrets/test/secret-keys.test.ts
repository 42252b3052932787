import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createDigests } from '../src/digests.ts';
import { createMacs, createSealer, openSecretKeys, SealBroken } from '../src/index.ts';

const [first, second] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64')) as [string, string];
const open = (...entries: string[]) => openSecretKeys('SECRET', entries);

describe('keys', () => {
  test('are the same in base64, base64url and hex, under any name', () => {
    const bytes = Buffer.from(first, 'base64');
    const forms = [first, bytes.toString('base64url'), bytes.toString('hex'), `2026-11:${first}`];
    const keys = forms.map((form) => open(form).current);
    for (const key of keys) {
      expect(key.id).toEqual(keys[0]?.id);
      expect(key.derive('test')).toEqual(keys[0]?.derive('test'));
    }
  });

  test('differ for each purpose', () => {
    expect(open(first).current.derive('one')).not.toEqual(open(first).current.derive('other'));
  });

  test.each([['short'], ['a:b:c'], [randomBytes(16).toString('base64')], [`x:${'ab'.repeat(31)}`]])(
    'refuses %j without quoting it',
    (entry) => {
      expect(() => open(entry)).toThrow(/^a key of SECRET does not have 32 bytes$/);
    },
  );
});

describe('sealed values', () => {
  const plain = Buffer.from('a private key');
  const sealer = createSealer(open(first), 'test');
  const sealed = sealer.seal(plain, 'place');

  test('open with the same key and context, and differ each time', () => {
    expect(sealer.unseal(sealed, 'place')).toEqual(plain);
    expect(sealer.seal(plain, 'place')).not.toEqual(sealed);
    expect(sealed.includes(plain)).toBe(false);
  });

  test('do not open in another context, for another purpose, or if changed', () => {
    expect(() => sealer.unseal(sealed, 'elsewhere')).toThrow(SealBroken);
    expect(() => createSealer(open(first), 'other').unseal(sealed, 'place')).toThrow(SealBroken);
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => sealer.unseal(changed, 'place')).toThrow(SealBroken);
    }
    expect(() => sealer.unseal(Buffer.alloc(0), 'place')).toThrow(SealBroken);
  });

  test('stay readable while their key is listed, and move to the first key', () => {
    const rotated = createSealer(open(`new:${second}`, `old:${first}`), 'test');
    expect(rotated.unseal(sealed, 'place')).toEqual(plain);
    const renewed = rotated.renew(sealed, 'place');
    expect(createSealer(open(second), 'test').unseal(renewed, 'place')).toEqual(plain);
    expect(() => createSealer(open(second), 'test').unseal(sealed, 'place')).toThrow(
      /^SECRET lacks the key [0-9a-f]{16}$/,
    );
  });
});

describe('digests', () => {
  const digests = createDigests(open(first), 'test');

  test('are equal for equal secrets only, and hold no plain digest', () => {
    expect(digests.of('one')).toEqual(digests.of('one'));
    expect(digests.of('one')).not.toEqual(digests.of('other'));
    expect(createDigests(open(second), 'test').of('one').subarray(8)).not.toEqual(digests.of('one').subarray(8));
  });

  test('are found under every listed key, and move to the first without the secret', () => {
    const rotated = createDigests(open(second, first), 'test');
    const stored = digests.of('one');
    expect(rotated.candidates('one')).toContainEqual(stored);
    expect(rotated.renew(stored)).toEqual(createDigests(open(second), 'test').of('one'));
    stored.writeUInt8(stored.readUInt8(20) ^ 1, 20);
    expect(() => rotated.renew(stored)).toThrow(SealBroken);
  });
});

test('signatures under every listed key are accepted, and new ones are under the first', () => {
  const before = createMacs(open(first), 'test', 16).sign('data');
  const rotated = createMacs(open(second, first), 'test', 16);
  expect(before).toHaveLength(16);
  expect(rotated.verify('data', before)).toBe(true);
  expect(rotated.verify('other', before)).toBe(false);
  expect(rotated.verify('data', Buffer.alloc(0))).toBe(false);
  expect(rotated.sign('data')).toEqual(createMacs(open(second), 'test', 16).sign('data'));
});
