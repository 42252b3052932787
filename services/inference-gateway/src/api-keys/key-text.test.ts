import { expect, test } from 'vitest';
import { isKeyText, newKeyText, shownPrefix } from './key-text.ts';

test('keys are of one form, hold 200 random bits, and differ', () => {
  const keys = Array.from({ length: 1_000 }, () => newKeyText());
  for (const key of keys) expect(key).toMatch(/^svc_sk_[0-9a-hjkmnp-tv-z]{47}$/);
  expect(new Set(keys).size).toBe(1_000);
});

test('every random bit shows in the key', () => {
  const zero = newKeyText(() => Buffer.alloc(25));
  for (let bit = 0; bit < 200; bit += 1) {
    const bytes = Buffer.alloc(25);
    bytes[bit >> 3] = 1 << (bit & 7);
    expect(newKeyText(() => bytes).slice(0, 47)).not.toBe(zero.slice(0, 47));
  }
});

test('a key that lost, gained or changed a character is none', () => {
  const key = newKeyText();
  expect(isKeyText(key)).toBe(true);
  for (let at = 7; at < key.length; at += 1) {
    const other = key[at] === '0' ? '1' : '0';
    expect(isKeyText(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
  }
  for (const text of ['', 'svc_sk_', key.slice(1), `${key}0`, key.toUpperCase(), ` ${key}`, `${key}\n`]) {
    expect(isKeyText(text)).toBe(false);
  }
});

test('the prefix is enough to recognise a key and too little to guess it', () => {
  const key = newKeyText();
  expect(key.startsWith(shownPrefix(key))).toBe(true);
  expect(shownPrefix(key)).toHaveLength(13);
});
