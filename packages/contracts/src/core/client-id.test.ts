import { expect, test } from 'vitest';
import { isMetadataUrl } from './client-id.ts';

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
