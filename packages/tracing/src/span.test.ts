import { describe, expect, test } from 'vitest';
import { parsePairs } from './parse-pairs.ts';
import { allowListed, type SpanAttributes } from './span.ts';
import { errorCodeOf, formatTraceparent, isSampled, parseTraceparent } from './start-tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('traceparent', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    [`01-${TRACE}-${SPAN}-01-of a later version`, true],
  ])('W3C Trace Context §3.2: accepts %s', (header, sampled) => {
    const context = parseTraceparent(header);
    expect(context).toMatchObject({ traceId: TRACE, spanId: SPAN });
    expect(context && isSampled(context)).toBe(sampled);
    expect(context && formatTraceparent(context)).toBe(`00-${TRACE}-${SPAN}-0${sampled ? 1 : 0}`);
  });

  test.each([
    '',
    'canary',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01x`,
    `00-${TRACE}-${SPAN}`,
    `01-${TRACE}-${SPAN}-01-${'x'.repeat(1_000)}`,
  ])('W3C Trace Context §3.2.2: rejects %j', (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});

test('drops an attribute that is not allowed, not plain or too long', () => {
  const handed = {
    'http.route': 'x'.repeat(1_000),
    'http.response.status_code': 200,
    'svc.operation': undefined,
    'db.query.text': "SELECT 'canary'",
    authorization: 'Bearer canary',
    'gen_ai.provider.name': { name: 'canary' },
  } as unknown as SpanAttributes;
  expect(allowListed(handed)).toEqual({ 'http.route': 'x'.repeat(200), 'http.response.status_code': 200 });
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
