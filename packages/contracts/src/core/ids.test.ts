import { describe, expect, test } from 'vitest';
import { idPattern, isMetadataUrl, newId } from './ids.ts';

describe('newId', () => {
  test('returns the prefix and 26 Crockford characters', () => {
    expect(newId('usr')).toMatch(idPattern('usr'));
    expect(newId('req')).not.toMatch(idPattern('usr'));
    expect(`req_8${'0'.repeat(25)}`).not.toMatch(idPattern('req'));
  });

  test('sorts ids of one process by creation, even within a millisecond', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('evt'));
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('keeps the order when the clock goes backwards', () => {
    const later = newId('grt', Date.now() + 60_000);
    expect(newId('grt', Date.now()) > later).toBe(true);
  });
});

test.each([
  'https://client.example/oauth/client.json',
  'https://client.example:8443/client',
  'https://client.example/client?version=2',
])('takes %s', (url) => expect(isMetadataUrl(url)).toBe(true));

test.each([
  'http://client.example/client',
  'https://client.example',
  'https://client.example/',
  'https://client.example/client#part',
  'https://client.example/client#',
  'https://user@client.example/client',
  'https://user:secret@client.example/client',
  'https://@client.example/client',
  'https://client.example/a/../client',
  'https://client.example/./client',
  'https://client.example/%2e%2e/client',
  'https://client.example:443/client',
  'https://CLIENT.example/client',
  'https:/client.example/client',
  ' https://client.example/client',
  'https://client.example\\client',
  `https://client.example/${'x'.repeat(512)}`,
])('refuses %s', (url) => expect(isMetadataUrl(url)).toBe(false));
