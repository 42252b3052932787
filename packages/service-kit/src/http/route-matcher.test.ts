import { allInternalRoutes, allRoutes, type RouteDefinition } from '@svc/contracts';
import { expect, test } from 'vitest';
import { createRouteMatcher } from './route-matcher.ts';
import { createRouteTable } from './route-table.ts';

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
