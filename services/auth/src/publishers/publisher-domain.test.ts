import { expect, test } from 'vitest';
import { normalizeDomain } from './publisher-domain.ts';

test.each([
  ['Example.COM', 'example.com'],
  ['example.com.', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['пример.рф', 'xn--e1afmkfd.xn--p1ai'],
  ['ｅxample。com', 'example.com'],
  ['a-1.b.example.co.uk', 'a-1.b.example.co.uk'],
])('normalizes %s to %s', (text, domain) => {
  expect(normalizeDomain(text)).toBe(domain);
});

test.each([
  'com',
  'localhost',
  '',
  '.',
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '[::1]',
  '::1',
  'example.1',
  'https://example.com',
  'example.com/path',
  'example.com:443',
  'user@example.com',
  'exa mple.com',
  'example..com',
  '.example.com',
  '-a.example.com',
  '_dmarc.example.com',
  '*.example.com',
  'exa%6dple.com',
  'example.com?x',
  'example.com#x',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(120)}com`,
  'xn--.example',
])('refuses %j', (text) => {
  expect(normalizeDomain(text)).toBeUndefined();
});
