import { expect, test } from 'vitest';
import { relyingPartyOf } from './passkeys.ts';

test.each([
  ['https://svc.example.com', 'svc.example.com', ['https://svc.example.com']],
  ['https://svc.example.com:8443/', 'svc.example.com', ['https://svc.example.com:8443']],
  ['http://127.0.0.1:8080', 'localhost', ['http://127.0.0.1:8080', 'http://localhost:8080']],
  ['http://[::1]:8080', 'localhost', ['http://[::1]:8080', 'http://localhost:8080']],
  ['http://localhost:8080', 'localhost', ['http://localhost:8080']],
])('WebAuthn Level 3 §5.1.2: takes id and origins from %s', (baseUrl, id, origins) => {
  expect(relyingPartyOf(baseUrl)).toEqual({ id, name: 'svc', origins });
});
