import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { allowListed, parsePairs } from './open-traces.ts';
import { errorCodeOf } from './traces.ts';

test('exports no attribute that is not allowed or not plain, no event, no link and no message', () => {
  const attributes = {
    'http.route': '/v1/things',
    'http.response.status_code': 200,
    'db.query.text': "SELECT 'canary'",
    authorization: 'Bearer canary',
    'gen_ai.provider.name': ['canary'],
  };
  const events = [{ name: 'exception', attributes: { 'exception.message': 'canary' } }];
  const links = [{ context: { traceId: '1', spanId: '2', traceFlags: 1 }, attributes: { canary: 'canary' } }];
  // Only these members are read.
  const span = {
    name: 'request',
    attributes,
    events,
    links,
    status: { code: 2, message: 'canary' },
  } as unknown as ReadableSpan;
  const exported = allowListed(span);
  expect(exported.name).toBe('request');
  expect(exported.attributes).toEqual({ 'http.route': '/v1/things', 'http.response.status_code': 200 });
  expect([exported.events, exported.links, exported.status]).toEqual([[], [], { code: 2 }]);
});

test('reports an error by its code or class, never by its message', () => {
  expect(errorCodeOf(Object.assign(new Error('canary'), { code: '23505' }))).toBe('23505');
  expect(errorCodeOf(new TypeError('canary'))).toBe('TypeError');
  expect(errorCodeOf(Object.assign(new Error('canary'), { code: 'a canary, with blanks' }))).toBe('Error');
  expect(errorCodeOf('canary')).toBe('unknown');
});

test('parses pairs as OpenTelemetry writes them', () => {
  expect(parsePairs('api-key=a%20b, deployment.environment.name = production,,=x,broken=%')).toEqual({
    'api-key': 'a b',
    'deployment.environment.name': 'production',
    broken: '%',
  });
});
