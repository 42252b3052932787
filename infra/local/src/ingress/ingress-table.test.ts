import { allInternalRoutes, allRoutes, type RouteDefinition, unservedPaths } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { type IngressRoute, ingressTable, sandboxPaymentRoutes } from './ingress-table.ts';

const table = ingressTable([...allRoutes, ...unservedPaths]);
const fill = ({ path }: RouteDefinition): string => path.replaceAll(/\{[^}]+\}/g, 'x1');
const route = (path: string, service: IngressRoute['service']): IngressRoute => ({
  path,
  service,
  errorShape: 'detail',
});

describe('the table derived from the contract', () => {
  test.each(allRoutes.map((each) => [`${each.method} ${each.path}`, each] as const))(
    'routes %s to its owner',
    (_name, each) => {
      expect(table.match(fill(each))).toMatchObject({ service: each.service, template: each.path });
    },
  );

  test.each(allInternalRoutes.map((each) => [each.path, each] as const))('has no entry for %s', (_name, each) => {
    expect(table.match(fill(each))).toBeUndefined();
  });

  test.each([
    '/healthz',
    '/readyz',
    '/metrics',
    '/',
    '/v1',
    '/v1/nope',
    '/v1/integrations',
    '/v1/integrations/nope',
    '/v1/console/nope',
    '/internal',
  ])('%s has no owner', (path) => expect(table.match(path)).toBeUndefined());

  test('splits the paths of an app between its owners', () => {
    expect(table.match('/v1/integrations/apps/app_1')?.service).toBe('auth');
    expect(table.match('/v1/integrations/apps/app_1/icon')?.service).toBe('auth');
    expect(table.match('/v1/integrations/apps/app_1/webhook')?.service).toBe('webhook-dispatcher');
    expect(table.match('/v1/integrations/apps/app_1/webhook/unheard-of')?.service).toBe('webhook-dispatcher');
    expect(table.match('/v1/integrations/apps/app_1/webhooks')).toBeUndefined();
  });

  test('gives an unknown path to the owner of its whole prefix', () => {
    expect(table.match('/v1/console/sessions/unheard-of/of')?.service).toBe('auth');
    expect(table.match('/v1/console/account/webhook/unheard-of')?.service).toBe('webhook-dispatcher');
    const sandbox = ingressTable([...allRoutes, ...sandboxPaymentRoutes]);
    expect(sandbox.match('/sandbox/payments/unheard-of')?.service).toBe('sandbox-payments');
    expect(table.match('/sandbox/payments/unheard-of')).toBeUndefined();
    expect(table.match('/v1/chat/unheard-of')).toMatchObject({ service: 'inference-gateway', errorShape: 'wire' });
  });

  test.each(['/v1/images/generations', '/v1/files', '/v1/audio/speech'])(
    'gives %s, which no service serves, to the gateway for a 404 in the wire format',
    (path) => expect(table.match(path)).toMatchObject({ service: 'inference-gateway', errorShape: 'wire' }),
  );

  test('ignores a trailing slash', () => {
    expect(table.match('/v1/models/')?.template).toBe('/v1/models');
  });
});

describe('specificity', () => {
  test('prefers a literal to a parameter, and falls back to the parameter', () => {
    const small = ingressTable([route('/a/{id}/b', 'auth'), route('/a/me/c', 'billing'), route('/a/me', 'billing')]);
    expect(small.match('/a/me')?.service).toBe('billing');
    expect(small.match('/a/me/c')?.service).toBe('billing');
    expect(small.match('/a/me/b')?.service).toBe('auth');
    expect(small.match('/a/you/b')?.service).toBe('auth');
  });

  test('refuses two owners of one path', () => {
    expect(() => ingressTable([route('/a/{id}', 'auth'), route('/a/{name}', 'billing')])).toThrow('claim');
  });
});
