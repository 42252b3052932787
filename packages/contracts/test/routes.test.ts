import { describe, expect, test } from 'vitest';
import {
  allInternalRoutes,
  allRoutes,
  documentedRoutes,
  errorCodes,
  internalRoutes,
  type RouteDefinition,
  routes,
} from '../src/index.ts';

const everyRoute = [...allRoutes, ...allInternalRoutes];
const signature = (route: RouteDefinition) => `${route.method} ${route.path.replace(/\{[^}]+\}/g, '{}')}`;

/** Endpoints required by section 4 of the specification and by the decisions on it. */
const specified = `
GET /v1/integrations/oauth/authorize
POST /v1/integrations/oauth/authorize
GET /v1/integrations/oauth/consent
POST /v1/integrations/oauth/token
POST /v1/integrations/oauth/revoke
GET /.well-known/oauth-protected-resource/v1/integrations
GET /v1/integrations/apps
POST /v1/integrations/apps
GET /v1/integrations/apps/{}/icon
PUT /v1/integrations/apps/{}/icon
POST /v1/integrations/apps/{}/rotate-secret
PATCH /v1/integrations/apps/{}
DELETE /v1/integrations/apps/{}
GET /v1/integrations/connections
DELETE /v1/integrations/connections/{}
GET /v1/integrations/usage
GET /v1/integrations/usage/requests/{}
PUT /v1/integrations/apps/{}/webhook
GET /v1/integrations/apps/{}/webhook
POST /v1/integrations/apps/{}/webhook/test
GET /v1/integrations/apps/{}/webhook/events
POST /v1/integrations/apps/{}/webhook/events/{}/recover
GET /v1/integrations/apps/{}/webhook/events/{}
POST /v1/integrations/apps/{}/webhook/events/{}/deliver-now
POST /v1/integrations/apps/{}/webhook/rotate-secret
GET /v1/integrations/webhook/events
GET /v1/integrations/apps/{}/analytics
GET /v1/integrations/inference/capabilities
POST /v1/integrations/inference/chat/completions
POST /v1/integrations/inference/audio/transcriptions
GET /v1/subscriptions
POST /v1/subscriptions/checkout
POST /v1/subscriptions/checkout/confirm
POST /v1/subscriptions/portal
GET /v1/subscriptions/plans
GET /v1/subscriptions/usage
POST /v1/chat/completions
POST /v1/completions
POST /v1/embeddings
GET /v1/models
POST /v1/console/accounts
POST /v1/console/sessions
GET /v1/console/session
DELETE /v1/console/session
GET /v1/console/sso/start
GET /v1/console/sso/callback
GET /v1/gateway/wallet
POST /v1/gateway/wallet/top-ups
POST /v1/gateway/keys
GET /v1/gateway/keys
DELETE /v1/gateway/keys/{}
GET /v1/gateway/usage
POST /v1/payments/stripe/events
POST /sandbox/payments/sessions/{}/complete
POST /sandbox/payments/subscriptions/{}
GET /.well-known/openid-configuration
GET /.well-known/oauth-authorization-server
GET /v1/openapi.json`
  .trim()
  .split('\n');

describe('the route table', () => {
  test('contains every endpoint of the specification', () => {
    const known = new Set(documentedRoutes.map(signature));
    expect(specified.filter((endpoint) => !known.has(endpoint))).toEqual([]);
  });

  test('uses each operation id, and each method and path, once', () => {
    for (const [name, route] of Object.entries({ ...routes, ...internalRoutes })) expect(route.operationId).toBe(name);
    expect(new Set(everyRoute.map(signature)).size).toBe(everyRoute.length);
  });

  test('has a schema for exactly the parameters of each path', () => {
    for (const route of everyRoute) {
      const inPath = [...route.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]).sort();
      expect(Object.keys(route.request.params?.shape ?? {}).sort(), route.operationId).toEqual(inPath);
    }
  });

  test('keeps internal and public routes apart', () => {
    for (const route of allInternalRoutes) {
      expect(route.path).toMatch(/^\/internal\//);
      expect(route.caller).toBe('service');
      expect(route.callers?.length, route.operationId).toBeGreaterThan(0);
      expect(route.callers, route.operationId).not.toContain(route.service);
    }
    for (const route of allRoutes) {
      expect(route.path).not.toMatch(/^\/internal/);
      expect(route.caller).not.toBe('service');
      expect(route.callers).toBeUndefined();
    }
  });

  test('uses only registered error codes, and every code with a single owner', () => {
    const used = new Set(everyRoute.flatMap((route) => route.errors));
    for (const code of used) expect(errorCodes[code], code).toBeDefined();
    const orphans = Object.entries(errorCodes).filter(
      ([code, { owner }]) => owner !== 'any' && owner !== 'internal' && !used.has(code as never),
    );
    expect(orphans.map(([code]) => code)).toEqual([]);
  });
});

test('allows cross-origin calls of the sessionless OAuth endpoints, inference and usage, but not of the console', () => {
  const isForPages = ({ path }: RouteDefinition): boolean =>
    /^\/v1\/integrations\/(inference|usage)(\/|$)/.test(path) ||
    /^\/v1\/integrations\/oauth\/(token|par|revoke|jwks)$/.test(path) ||
    /^\/\.well-known\/|^\/v1\/((openapi|asyncapi)\.json|(receipts|provenance)\/jwks)$/.test(path);
  for (const route of everyRoute)
    expect([signature(route), route.crossOrigin ?? false]).toEqual([signature(route), isForPages(route)]);
});

test('requires a confirmed address to register apps, create keys, pay and prove domains', () => {
  const wanted = allRoutes.filter(({ verifiedEmail }) => verifiedEmail).map(({ operationId }) => operationId);
  expect(wanted.toSorted()).toEqual([
    'addPublisherDomain',
    'changeSeats',
    'checkPublisherDomain',
    'createCheckout',
    'createInvitation',
    'createKey',
    'createManagementKey',
    'createTopUp',
    'registerApp',
  ]);
});

/** Section S of the decisions. Every other route that takes a console session refuses management keys. */
const MANAGED: Readonly<Record<string, (route: RouteDefinition) => boolean>> = {
  'api_keys:read': ({ method, path }) => method === 'GET' && path.startsWith('/v1/gateway/keys'),
  'api_keys:write': ({ method, path }) => method !== 'GET' && path.startsWith('/v1/gateway/keys'),
  'wallet:read': ({ method, path }) => method === 'GET' && /^\/v1\/gateway\/wallet(\/|$)/.test(path),
  'usage:read': ({ path }) => /^\/v1\/gateway\/usage(\/|$)/.test(path),
  'apps:read': (route) => route.method === 'GET' && isOfApps(route),
  'apps:write': (route) => route.method !== 'GET' && isOfApps(route),
  'webhooks:read': (route) => route.method === 'GET' && isOfWebhooks(route),
  'webhooks:write': (route) => route.method !== 'GET' && isOfWebhooks(route),
};
const isOfWebhooks = ({ path }: RouteDefinition): boolean =>
  path.startsWith('/v1/integrations/apps/{client_id}/webhook');
const isOfApps = (route: RouteDefinition): boolean =>
  /^\/v1\/integrations\/apps(\/|$)/.test(route.path) && !isOfWebhooks(route);

test.each(
  allRoutes
    .filter(({ managementScope }) => managementScope !== undefined)
    .map((route) => [signature(route), route] as const),
)('%s takes the management keys that the decisions say', (_name, route) => {
  const scopes = Object.entries(MANAGED).filter(([, takes]) => takes(route));
  expect(route.managementScope).toBe(scopes.map(([scope]) => scope)[0] ?? null);
});
