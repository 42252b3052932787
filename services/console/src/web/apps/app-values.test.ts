import { expect, test } from 'vitest';
import { checkApp, EMPTY_APP, toFields } from './app-values.ts';

test('requires a name and a redirect URI on every line', () => {
  const faults = checkApp({ ...EMPTY_APP, redirect_uris: ['https://a.example/', ''] });
  expect(faults.map(({ loc }) => loc.join('.'))).toEqual(['body.name', 'body.redirect_uris.1']);
});

test('removes emptied fields', () => {
  const fields = toFields({
    ...EMPTY_APP,
    name: ' Notes ',
    redirect_uris: [' https://a.example/ '],
    homepage_url: ' ',
  });
  expect(fields).toEqual({
    name: 'Notes',
    description: null,
    redirect_uris: ['https://a.example/'],
    homepage_url: null,
    privacy_policy_url: null,
    refresh_grace_seconds: 30,
    device_flow: false,
  });
});
