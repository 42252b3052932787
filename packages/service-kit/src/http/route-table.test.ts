import { allInternalRoutes, allRoutes, type RouteDefinition } from '@svc/contracts';
import { expect, test } from 'vitest';
import {
  allowedMethods,
  createRouteMatcher,
  createRouteTable,
  entriesNear,
  type PathEntry,
  shapeNear,
} from './route-table.ts';

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

const at = (path: string, options: Pick<RouteDefinition, 'takesRest'> = {}): RouteDefinition => ({
  operationId: path,
  method: 'GET',
  path,
  service: 'auth',
  caller: 'public',
  errorShape: 'detail',
  tag: 'Test',
  summary: 'Test',
  request: {},
  responses: {},
  errors: [],
  ...options,
});

const match = createRouteMatcher(
  createRouteTable(
    [
      at('/v1/a/{id}'),
      at('/v1/{x}/fixed'),
      at('/v1/a/fixed'),
      at('/v1/a/fixed/end'),
      at('/v1/{x}/{y}/end'),
      at('/v1/models'),
      at('/v1/models/{model}', { takesRest: true }),
      at('/v1/models/gpt/limits'),
    ],
    [],
  ),
);
const found = (path: string) => {
  const result = match(path);
  return result && [result.entry.path, result.readParams()];
};

test.each([
  ['/v1/a/fixed', '/v1/a/fixed', {}],
  ['/v1/a/other', '/v1/a/{id}', { id: 'other' }],
  ['/v1/b/fixed', '/v1/{x}/fixed', { x: 'b' }],
  ['/v1/a/fixed/end', '/v1/a/fixed/end', {}],
  ['/v1/a/b/end', '/v1/{x}/{y}/end', { x: 'a', y: 'b' }],
  ['/v1/models', '/v1/models', {}],
  ['/v1/models/gpt', '/v1/models/{model}', { model: 'gpt' }],
  ['/v1/models/gpt/limits', '/v1/models/gpt/limits', {}],
  ['/v1/models/gpt/other', '/v1/models/{model}', { model: 'gpt/other' }],
  ['/v1/models//gpt%2Fmini/', '/v1/models/{model}', { model: '/gpt/mini/' }],
  ['/v1/a/x%20y%2Fz', '/v1/a/{id}', { id: 'x y/z' }],
])('finds %s at %s', (path, template, params) => {
  expect(found(path)).toEqual([template, params]);
});

test.each([
  ...['/', '', '*', '/v1', '/v1/', '/v1/A/fixed/x', '/V1/a/fixed', '/v1/a/fixed/', '/v1/a/', '/v1/a//end'],
  ...['/v1/models/', '/v1//fixed', '//v1/a/fixed', '/v1/a/b/c', 'v1/a/fixed'],
])('finds nothing at "%s"', (path) => {
  expect(match(path)).toBeUndefined();
});

test('finds a path with a parameter that cannot be decoded, but does not read it', () => {
  expect(match('/v1/a/%zz')?.entry.path).toBe('/v1/a/{id}');
  expect(() => match('/v1/a/%zz')?.readParams()).toThrow(URIError);
});

test.each([
  ['public', allRoutes],
  ['internal', allInternalRoutes],
])('finds every %s path of the contract', (_name, routes) => {
  const find = createRouteMatcher(createRouteTable(routes, []));
  for (const { path } of routes) expect(find(path.replaceAll(/\{\w+\}/g, 'some-id'))?.entry.path).toBe(path);
});
