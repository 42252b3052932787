import type { RouteDefinition } from '@svc/contracts';
import { expect, test } from 'vitest';
import { allowedMethods, createRouteTable, entriesNear, type PathEntry, shapeNear } from './route-table.ts';

const route = (
  method: RouteDefinition['method'],
  path: string,
  errorShape: RouteDefinition['errorShape'] = 'detail',
): RouteDefinition => ({
  operationId: `${method} ${path}`,
  method,
  path,
  service: 'auth',
  caller: 'public',
  errorShape,
  tag: 'Test',
  summary: 'Test',
  request: {},
  responses: {},
  errors: [],
});

test('lists the methods of the path in Allow, with HEAD beside GET', () => {
  const [entry] = createRouteTable([route('GET', '/v1/a'), route('PUT', '/v1/a')], []);
  expect(entry && allowedMethods(entry)).toBe('GET, PUT, HEAD, OPTIONS');
});

test('gives an unknown path the error shape of its neighbors if they agree', () => {
  const table = createRouteTable(
    [route('GET', '/v1/chat/a', 'wire'), route('GET', '/v1/mixed/a', 'wire'), route('GET', '/v1/mixed/b')],
    [],
  );
  expect(['/v1/chat/x', '/v1/chat', '/v1/mixed/x', '/v1', '/'].map((path) => shapeNear(table, path))).toEqual([
    'wire',
    'wire',
    'detail',
    'detail',
    'detail',
  ]);
});

test('finds the neighbors of an unknown path, and compares few folders however many segments it has', () => {
  let compared = 0;
  const entryAt = (path: string): PathEntry => ({
    get path() {
      compared += 1;
      return path;
    },
    routes: new Map(),
    bindings: new Map(),
    isCrossOrigin: false,
  });
  const table = ['/v1/apps', '/v1/apps/{id}/icon', '/v1/keys'].map(entryAt);
  const near = (path: string) => entriesNear(table, path).map((entry) => entry.path);
  expect(near('/v1/apps/app_1/icons')).toEqual(['/v1/apps', '/v1/apps/{id}/icon']);
  expect(near('/v1/app')).toEqual(['/v1/apps', '/v1/apps/{id}/icon', '/v1/keys']);
  expect([near('/v2/apps'), near('/')]).toEqual([[], []]);
  compared = 0;
  expect(near(`/v1/apps${'/x'.repeat(50_000)}`)).toEqual(['/v1/apps', '/v1/apps/{id}/icon']);
  expect(compared).toBeLessThan(30);
});
