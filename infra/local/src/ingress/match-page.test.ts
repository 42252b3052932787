import { allRoutes } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { matchPage } from './match-page.ts';

describe('matchPage', () => {
  test.each(['/', '/apps', '/apps/app_x/webhook', '/assets/index.js', '/favicon.svg'])(
    'takes %s for a page',
    (path) => {
      expect(matchPage(path)?.service).toBe('console');
    },
  );

  test.each(['/internal/apps/x', '/metrics', '/healthz', '/readyz', '/sandbox/x', '/v1', '/.well-known/x'])(
    'never takes %s for one',
    (path) => {
      expect(matchPage(path)).toBeUndefined();
    },
  );

  test('claims no first segment of the contract', () => {
    for (const { path } of allRoutes) expect(matchPage(path), path).toBeUndefined();
  });
});
