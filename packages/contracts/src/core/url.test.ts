import { describe, expect, test } from 'vitest';
import { isBrowserReturnUrl } from './url.ts';

describe('isBrowserReturnUrl', () => {
  test.each([
    'https://a.example',
    'HTTPS://a.example/ok?x=1#part',
    'https://a.example/caffè?x=è',
    'http://localhost:3000/x',
    'http://127.0.0.1/x',
    'http://127.8.0.1/x',
    'http://[::1]:8080/x',
  ])('accepts %s', (url) => {
    expect(isBrowserReturnUrl(url)).toBe(true);
  });
  test.each([
    '',
    'a.example',
    '//a.example',
    'https:a.example',
    'https:/a.example',
    'https://',
    'http://a.example/',
    'http://localhost.a.example/',
    'http://127.0.0.1.a.example/',
    'http://128.0.0.1/',
    'https://user:password@a.example/',
    'https://a.example\\@b.example',
    ' https://a.example',
    'https://a.example/a b',
    'https://a.example/\r\nx: 1',
    'https://a.example/\u0085',
    'javascript:alert(1)',
  ])('refuses %j', (url) => {
    expect(isBrowserReturnUrl(url)).toBe(false);
  });
});
