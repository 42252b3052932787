import { describe, expect, test } from 'vitest';
import { parseEncryptionKey, SealBroken, seal, unseal } from './encryption-key.ts';

const HEX = 'ab'.repeat(32);
const key = parseEncryptionKey(HEX).derive('test');

describe('parsing', () => {
  test('accepts the same key in hex and base64', () => {
    const base64 = Buffer.from(HEX, 'hex').toString('base64');
    for (const text of [base64, base64.replace(/=$/, ''), HEX.toUpperCase()]) {
      expect(parseEncryptionKey(text).derive('test')).toEqual(key);
    }
  });

  test('derives a different key for each purpose', () => {
    expect(parseEncryptionKey(HEX).derive('other')).not.toEqual(key);
    expect(key).toHaveLength(32);
  });

  test('refuses another length', () => {
    expect(() => parseEncryptionKey('ab'.repeat(16))).toThrow(RangeError);
  });
});

describe('sealing', () => {
  const plain = Buffer.from('a private key');
  const sealed = seal(key, plain, 'place');

  test('opens with the same key and context', () => {
    expect(unseal(key, sealed, 'place')).toEqual(plain);
    expect(seal(key, plain, 'place')).not.toEqual(sealed);
    expect(sealed.includes(plain)).toBe(false);
  });

  test('does not open with another key or context, or if changed', () => {
    expect(() => unseal(key, sealed, 'elsewhere')).toThrow(SealBroken);
    expect(() => unseal(parseEncryptionKey('cd'.repeat(32)).derive('test'), sealed, 'place')).toThrow(SealBroken);
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => unseal(key, changed, 'place')).toThrow(SealBroken);
    }
    expect(() => unseal(key, Buffer.alloc(0), 'place')).toThrow(SealBroken);
  });
});
