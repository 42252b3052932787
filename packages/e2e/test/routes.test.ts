import { allRoutes, type RouteDefinition, routesOf, serviceNames } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { call } from './support/api.ts';
import { signUp } from './support/people.ts';

/** Contract routes that no service serves yet. This list may only shrink. */
const unserved: string[] = [];

const servedRoutes = allRoutes.filter((route) => !unserved.includes(route.operationId));
const pathOf = (route: RouteDefinition): string => route.path.replace(/\{[^}]+\}/g, 'unknown');

describe('the public surface', () => {
  test('serves every contract route that is not listed as unserved', async () => {
    const person = await signUp('business');
    const notImplemented: string[] = [];
    for (const route of allRoutes) {
      if (route.operationId === 'deleteSession') continue;
      const answer = await call(route.method, pathOf(route), { token: person.token });
      if (answer.status === 501) notImplemented.push(route.operationId);
      expect(answer.status, `${route.operationId}: ${answer.text}`).not.toBe(405);
      expect(answer.status === 500, `${route.operationId}: ${answer.text}`).toBe(false);
      expect(answer.headers.get('x-request-id'), route.operationId).toMatch(/^req_[0-9a-z]{26}$/);
    }
    expect(notImplemented.sort()).toEqual([...unserved].sort());
  });

  test('requires the credential in the contract and names its kind', async () => {
    for (const route of servedRoutes) {
      if (route.caller === 'public' || route.caller === 'oauth_public') continue;
      const answer = await call(route.method, pathOf(route));
      expect(answer.status, route.operationId).toBe(401);
      if (route.errorShape === 'wire') {
        expect(answer.body.error.code, route.operationId).toBe('invalid_api_key');
      } else {
        expect(answer.body.detail.code, route.operationId).toBe('not_authenticated');
        const scheme = route.caller === 'client_credentials' ? /^Basic/ : /^Bearer/;
        expect(answer.headers.get('www-authenticate'), route.operationId).toMatch(scheme);
      }
    }
  });

  test('rejects credentials of another kind', async () => {
    const person = await signUp('personal');
    for (const route of servedRoutes) {
      if (route.caller !== 'oauth_access_token' && route.caller !== 'api_key') continue;
      const answer = await call(route.method, pathOf(route), { token: person.token });
      expect(answer.status, route.operationId).toBe(401);
    }
  });

  test('blocks internal paths in every spelling', async () => {
    for (const path of [
      '/internal/apps/x',
      '/internal/admission-batches',
      '/metrics',
      '/healthz',
      '/readyz',
      '/v1/../internal/apps/x',
      '//internal/apps/x',
      '/%69nternal/apps/x',
      '/v1/integrations/..%2f..%2finternal/apps/x',
    ]) {
      const answer = await call('GET', path);
      expect(answer.status, path).toBe(404);
    }
  });

  test('returns 404 for an unknown path and 405 for an unknown method', async () => {
    expect(await call('GET', '/v1/nothing')).toMatchObject({ status: 404, body: { detail: { code: 'not_found' } } });
    const wrong = await call('PUT', '/v1/subscriptions/plans');
    expect(wrong).toMatchObject({ status: 405, body: { detail: { code: 'method_not_allowed' } } });
    expect(wrong.headers.get('allow')).toContain('GET');
  });

  test('has an owner for every route', () => {
    const owned = serviceNames.flatMap((service) => routesOf(service));
    expect(owned.length).toBe(allRoutes.length);
  });
});
