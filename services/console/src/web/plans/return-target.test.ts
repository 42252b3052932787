import { expect, test } from 'vitest';
import { readReturnTarget, withReturnTarget } from './return-page.tsx';

const target = '/v1/integrations/oauth/authorize?client_id=app_x&state=a%20b';

test('leads back to pages that ask for consent, and nowhere else', () => {
  const read = (next: string) => readReturnTarget(new URLSearchParams({ next }));
  expect(read(target)).toBe(target);
  expect(read('/v1/integrations/oauth/device?user_code=BCDF-GHJK')).toBeDefined();
  for (const other of ['', '/', '//evil.example/v1/integrations/oauth/authorize?', 'https://evil.example', '/wallet']) {
    expect(read(other)).toBeUndefined();
  }
  expect(readReturnTarget(new URLSearchParams())).toBeUndefined();
});

test('survives the checkout in its address, unless that gets too long', () => {
  const url = withReturnTarget('https://svc.example/plans/return', target);
  expect(readReturnTarget(new URL(url).searchParams)).toBe(target);
  expect(withReturnTarget('https://svc.example/plans', `${target}${'x'.repeat(2_048)}`)).toBe(
    'https://svc.example/plans',
  );
  expect(withReturnTarget('https://svc.example/plans', undefined)).toBe('https://svc.example/plans');
});
