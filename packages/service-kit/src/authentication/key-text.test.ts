import { expect, test } from 'vitest';
import { createKeyText } from './key-text.ts';

const { generate: newKeyText, isWellFormed: isKeyText, shown: shownPrefix } = createKeyText('svc_sk_');

test('generates distinct keys in the documented format', () => {
  const keys = Array.from({ length: 1_000 }, () => newKeyText());
  for (const key of keys) expect(key).toMatch(/^svc_sk_[0-9a-hjkmnp-tv-z]{47}$/);
  expect(new Set(keys).size).toBe(1_000);
});

test('encodes every random bit in the key', () => {
  const zero = newKeyText(() => Buffer.alloc(25));
  for (let bit = 0; bit < 200; bit += 1) {
    const bytes = Buffer.alloc(25);
    bytes[bit >> 3] = 1 << (bit & 7);
    expect(newKeyText(() => bytes).slice(0, 47)).not.toBe(zero.slice(0, 47));
  }
});

test('rejects a key with a missing, additional or changed character', () => {
  const key = newKeyText();
  expect(isKeyText(key)).toBe(true);
  for (let at = 7; at < key.length; at += 1) {
    const other = key[at] === '0' ? '1' : '0';
    expect(isKeyText(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
  }
  for (const text of [
    '',
    'svc_sk_',
    key.replace('_sk_', '_mk_'),
    key.slice(1),
    `${key}0`,
    key.toUpperCase(),
    ` ${key}`,
    `${key}\n`,
  ]) {
    expect(isKeyText(text)).toBe(false);
  }
});

test('shows the first 13 characters of a key', () => {
  const key = newKeyText();
  expect(key.startsWith(shownPrefix(key))).toBe(true);
  expect(shownPrefix(key)).toHaveLength(13);
});
