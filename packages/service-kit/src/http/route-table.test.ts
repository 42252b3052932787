import { allInternalRoutes, allRoutes, type RouteDefinition } from '@svc/contracts';
import { expect, test } from 'vitest';
import { allowedMethods, createRouteTable, shapeNear, toExpressPath } from './route-table.ts';

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

test('puts fixed segments before parameters in any order of the contract', () => {
  const table = createRouteTable(
    [
      route('GET', '/v1/a/{id}'),
      route('GET', '/v1/{x}/fixed'),
      route('GET', '/v1/a/fixed'),
      route('POST', '/v1/a/fixed'),
    ],
    [],
  );
  expect(table.map(({ path }) => path)).toEqual(['/v1/a/fixed', '/v1/a/{id}', '/v1/{x}/fixed']);
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

test('converts every path of the contract to one that Express matches', () => {
  for (const { path } of [...allRoutes, ...allInternalRoutes]) {
    expect(toExpressPath(path)).toMatch(/^(\/(:\w+|[\w.-]+))+$/);
  }
});
