import { allInternalRoutes, allRoutes, type RouteDefinition, unservedPaths } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { type IngressRoute, ingressTable, matchPage, readRequestPath, sandboxPaymentRoutes } from './ingress-table.ts';

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

describe('readRequestPath', () => {
  test.each([
    ['/v1/models', '/v1/models'],
    ['/v1/models?x=/../y//', '/v1/models'],
    ['/v1/models/', '/v1/models/'],
    ['/', '/'],
    ['/v1/apps/a%20b', '/v1/apps/a%20b'],
    ['/v1/apps/..a', '/v1/apps/..a'],
    ['/.well-known/openid-configuration', '/.well-known/openid-configuration'],
    ['/v1/models/acme%2Feu-chat-1', '/v1/models/acme%2Feu-chat-1'],
    ['/v1/models/acme/eu-chat-1', '/v1/models/acme/eu-chat-1'],
    ...[
      '/v1/integrations/connections/https%3A%2F%2Fagent.example%2Fa%2Fb.json',
      '/v1/integrations/connections/https%3A%2F%2Fagent.example%2Fa/grants/grt_1',
      '/v1/integrations/apps/https:%2f%2fagent.example%2fa/icon',
    ].map((path) => [path, path]),
  ])('reads %s', (target, path) => expect(readRequestPath(target)).toBe(path));

  test.each([
    '//v1/models',
    '/v1//models',
    '/v1/models//',
    '/v1/x/../models',
    '/v1/x/./models',
    '/v1/x/%2e%2E/models',
    '/v1/x/.%2e/models',
    '/v1/x%2fmodels',
    '/v1/models/..%2fkey',
    '/v1/integrations/connections/a%2Fb',
    '/v1/integrations/connections/https%3A%2F%2Fa%2Fb/x%2Fy',
    '/v1/integrations/connections/https%3A%2F%2Fa%5Cb',
    '/v1/integrations/usage/https%3A%2F%2Fa%2Fb',
    '/v1/models/%2e%2e%2fkey',
    '/v1/models/a%2f%2fb',
    '/v1/models/a%5cb',
    '/v1/x%5cmodels',
    '/v1\\models',
    '/v1/x%00',
    '/v1/x%zz',
    '/v1/é',
    '/v1/x#y',
    'http://elsewhere.example/v1/models',
    '*',
    '',
    undefined,
  ])('refuses %s', (target) => expect(readRequestPath(target)).toBeUndefined());

  test('keeps an encoded letter, which then matches no literal', () => {
    expect(readRequestPath('/v1/%69ntegrations')).toBe('/v1/%69ntegrations');
  });
});
