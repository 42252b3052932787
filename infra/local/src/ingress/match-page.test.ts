import { allRoutes } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { matchPage } from './match-page.ts';

describe('matchPage', () => {
  test.each(['/', '/apps', '/apps/app_x/webhook', '/assets/index.js', '/favicon.svg'])(
    'gives %s to the console',
    (path) => {
      expect(matchPage(path)?.service).toBe('console');
    },
  );

  test.each(['/internal/apps/x', '/metrics', '/healthz', '/readyz', '/sandbox/x', '/v1', '/.well-known/x'])(
    'does not give %s to the console',
    (path) => {
      expect(matchPage(path)).toBeUndefined();
    },
  );

  test('claims no path of the contract but its pages', () => {
    const paths = allRoutes.map(({ path }) => path).filter((path) => !/^\/(prices|sign-in|sign-up)(\/|$)/.test(path));
    for (const path of paths) expect(matchPage(path), path).toBeUndefined();
  });
});
