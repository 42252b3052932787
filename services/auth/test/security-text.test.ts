import { expect, test } from 'vitest';
import { startAuthService } from './support/auth-service.ts';
import { call } from './support/http.ts';

const PATH = '/.well-known/security.txt';

test('answers the contact with an end within a year (RFC 9116 §2.5)', async () => {
  const service = await startAuthService({ SECURITY_CONTACT: 'mailto:security@svc.example' });
  try {
    const response = await fetch(`${service.url}${PATH}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const fields = new Map((await response.text()).split('\n').map((line) => line.split(': ', 2) as [string, string]));
    expect(fields.get('Contact')).toBe('mailto:security@svc.example');
    expect(fields.get('Canonical')).toMatch(/\/\.well-known\/security\.txt$/);
    const days = (Date.parse(fields.get('Expires') ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(30);
    expect(days).toBeLessThan(365);
  } finally {
    await service.stop();
  }
});

test('answers 404 without a contact', async () => {
  const service = await startAuthService();
  try {
    expect((await call(`${service.url}${PATH}`)).status).toBe(404);
  } finally {
    await service.stop();
  }
});
