import { describe, expect, test } from 'vitest';
import { newId } from '../core/ids.ts';
import { ADMISSIONS_MAX, admissionsCallSchema, readAdmissionsCall } from './admissions.ts';

const ofKey = {
  kind: 'api_key',
  ...{ request_id: newId('req'), svc_user_id: newId('usr'), key_id: newId('key') },
  ...{ hold_micros: 1_234, requests_per_minute: 60, monthly_limit_micros: 5_000_000 },
};
const ofApp = {
  kind: 'delegated',
  ...{ request_id: newId('req'), svc_user_id: newId('usr'), client_id: newId('app') },
  ...{ service: 'chat', estimate_micros: 0, idempotency_key: 'once' },
};
const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const callOf = (...admissions: unknown[]) => ({ request_id: newId('req'), traceparent, admissions });

const odd = [
  ...[
    undefined,
    null,
    true,
    '',
    'chat',
    'audio_transcription',
    'api_key',
    'delegated',
    'x'.repeat(255),
    'x'.repeat(256),
  ],
  ...[
    0,
    -0,
    1,
    -1,
    0.5,
    Number.NaN,
    Number.MAX_SAFE_INTEGER,
    2 ** 53,
    Number.POSITIVE_INFINITY,
    [],
    {},
    [ofKey],
    [null],
  ],
  ...[newId('req'), newId('usr'), newId('key'), newId('app'), `${newId('req')}0`, newId('req').slice(0, -1)],
  ...[newId('req').toUpperCase(), `${newId('req').slice(0, -1)}u`, `${newId('req').slice(0, -1)}é`, ` ${newId('req')}`],
  ...[newId('req').replace('_', '-'), newId('key').replace('key_', 'req_'), `${newId('usr')}\n`],
];

/** What a reader makes of a value: its answer, or that it refuses. */
const outcome = (read: (value: unknown) => unknown, value: unknown): unknown => {
  try {
    return read(value);
  } catch {
    return 'refused';
  }
};
const agree = (value: unknown): void =>
  expect(outcome(readAdmissionsCall, value)).toEqual(outcome((call) => admissionsCallSchema.parse(call), value));

describe('a call is read as its schema says', () => {
  test.each([
    ['of a key', ofKey],
    ['of an app', ofApp],
  ])('%s, whatever stands in a member', (_name, question) => {
    expect(readAdmissionsCall(callOf(question))).toMatchObject({ admissions: [question] });
    for (const name of Object.keys(question)) for (const value of odd) agree(callOf({ ...question, [name]: value }));
  });

  test('whatever stands in the call itself, and however many questions it has', () => {
    for (const value of odd) {
      agree(value);
      agree(callOf(ofKey, value));
      for (const name of ['request_id', 'traceparent', 'admissions']) agree({ ...callOf(ofApp), [name]: value });
    }
    for (const count of [0, 1, ADMISSIONS_MAX, ADMISSIONS_MAX + 1]) agree(callOf(...Array(count).fill(ofKey)));
  });
});
