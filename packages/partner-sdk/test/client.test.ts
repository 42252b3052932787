import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type AccessTokenRequest,
  AppLimitError,
  ConnectionEndedError,
  createSvcClient,
  OutcomeUnknownError,
  remainingBudgetMicros,
  type SvcClient,
  SvcError,
  type Usage,
  ValidationFailedError,
} from '../src/index.ts';
import {
  completion,
  failure,
  hangUp,
  json,
  REQUEST_ID,
  type StandInService,
  silence,
  startStandInService,
} from './support/stand-in-service.ts';

const HELLO = { messages: [{ role: 'user', content: 'Ciao' }] } as const;
const USAGE = {
  status: 'active',
  plan: { id: 'plus', name: 'Plus' },
  period: { start: '2026-10-01T00:00:00.000Z', end: '2026-11-01T00:00:00.000Z' },
  weekly: { used_percent: 1, used_micros: 10, limit_micros: 1000, resets_at: '2026-10-08T00:00:00.000Z' },
  monthly: { used_percent: 1, used_micros: 10, limit_micros: 1000, resets_at: '2026-11-01T00:00:00.000Z' },
  pending_requests: 0,
  max_pending_requests: 2,
  services: { chat: true, audio_transcription: false },
  extra: { enabled: false, used_micros: 0, limit_micros: 0 },
  app: {
    limit_micros: 2_000_000,
    period: 'week',
    expires_at: null,
    used_micros: 400_000,
    held_micros: 0,
    resets_at: '2026-10-08T00:00:00.000Z',
    paused: false,
  },
};

let service: StandInService;
let client: SvcClient;
let asked: AccessTokenRequest[];

beforeAll(async () => {
  service = await startStandInService();
});
afterAll(() => service.stop());
beforeEach(() => {
  asked = [];
  service.requests.length = 0;
  client = createSvcClient({
    baseUrl: `${service.url}/`,
    tokens: async (request = {}) => {
      asked.push(request);
      return `token-${asked.length}`;
    },
  });
});

const errorOf = async (work: Promise<unknown>): Promise<SvcError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SvcError)) throw new Error('no SvcError was thrown', { cause: error });
  return error;
};

describe('success', () => {
  test('returns a completion with its request id', async () => {
    service.answerNext(json(200, completion('Salve')));
    const answer = await client.chat({ ...HELLO, temperature: 0 }, { idempotencyKey: 'order-17' });
    expect(answer.choices[0]?.message.content).toBe('Salve');
    expect(answer.requestId).toBe(REQUEST_ID);
    const { method, path, headers, body } = service.last();
    expect([method, path]).toEqual(['POST', '/v1/integrations/inference/chat/completions']);
    expect(headers).toMatchObject({
      authorization: 'Bearer token-1',
      'content-type': 'application/json',
      'idempotency-key': 'order-17',
    });
    expect(JSON.parse(body.toString())).toEqual({ ...HELLO, temperature: 0, stream: false });
  });

  test('asks for a proof of provenance if told to', async () => {
    service.answerNext(json(200, { ...completion('Salve'), extensions: { provenance: 'a.b.c' } }));
    const answer = await client.chat(HELLO, { isProven: true });
    expect([service.last().headers['x-svc-provenance'], answer.extensions?.provenance]).toEqual(['1', 'a.b.c']);
    service.answerNext(json(200, completion('Salve')));
    await client.chat(HELLO);
    expect(service.last().headers).not.toHaveProperty('x-svc-provenance');
  });

  test('sends the audio file and only the given fields', async () => {
    service.answerNext(json(200, { text: 'Ciao', language: 'it', duration: 1.5, segments: [] }));
    const file = new File([new Uint8Array([0, 255, 13, 10])], 'voce.wav', { type: 'audio/wav' });
    const answer = await client.transcribe({ file, language: 'it', prompt: null, response_format: 'verbose_json' });
    expect(answer).toMatchObject({ text: 'Ciao', duration: 1.5, requestId: REQUEST_ID });
    const { headers, body } = service.last();
    const sent = new Response(new Uint8Array(body), { headers: { 'content-type': headers['content-type'] ?? '' } });
    const form = await sent.formData();
    expect([...form.keys()].sort()).toEqual(['file', 'language', 'response_format']);
    const sentFile = form.get('file');
    if (!(sentFile instanceof File)) throw new Error('no file was sent');
    expect(sentFile.name).toBe('voce.wav');
    expect([...new Uint8Array(await sentFile.arrayBuffer())]).toEqual([0, 255, 13, 10]);
  });

  test('reads capabilities, usage and the state of a request', async () => {
    const capabilities = { object: 'capabilities', services: USAGE.services };
    const request = {
      request_id: REQUEST_ID,
      state: 'settled',
      cost_micros: 42,
      paid_by: 'plan',
      created_at: '2026-10-01T00:00:00.000Z',
      settled_at: '2026-10-01T00:00:01.000Z',
    };
    service.answerNext(json(200, capabilities), json(200, USAGE), json(200, request));
    expect(await client.capabilities()).toEqual(capabilities);
    expect(await client.usage()).toEqual(USAGE);
    expect(await client.requestUsage('req/../1')).toEqual(request);
    expect(service.requests.map(({ path }) => path)).toEqual([
      '/v1/integrations/inference/capabilities',
      '/v1/integrations/usage',
      '/v1/integrations/usage/requests/req%2F..%2F1',
    ]);
  });
});

describe('remainingBudgetMicros', () => {
  test('subtracts what is used and held, stops at 0, and is undefined without a limit', () => {
    const withApp = (more: object) => remainingBudgetMicros({ ...USAGE, app: { ...USAGE.app, ...more } } as Usage);
    expect(withApp({})).toBe(1_600_000);
    expect(withApp({ held_micros: 100_000 })).toBe(1_500_000);
    expect(withApp({ limit_micros: 300_000 })).toBe(0);
    expect(withApp({ limit_micros: null })).toBeUndefined();
  });
});

describe('errors of the service', () => {
  test('a reached cap carries its reset time and is not retryable', async () => {
    service.answerNext(failure(402, 'weekly_limit_exceeded', { resets_at: '2026-10-08T00:00:00Z' }));
    const error = await errorOf(client.chat(HELLO));
    expect(error).toMatchObject({
      status: 402,
      code: 'weekly_limit_exceeded',
      requestId: REQUEST_ID,
      isRetryable: false,
    });
    expect(error.resetsAt).toEqual(new Date('2026-10-08T00:00:00Z'));
  });

  test.each([
    [402, 'app_limit_exceeded', '2026-10-08T00:00:00Z'],
    [402, 'app_limit_exceeded', null],
    [402, 'app_budget_expired', undefined],
    [403, 'connection_paused', undefined],
  ])('%i %s, resetting at %s: carries the page on which the user can change the limit', async (status, code, at) => {
    const manageUrl = 'https://svc.example/connections';
    service.answerNext(failure(status, code, { resets_at: at, manage_url: manageUrl }));
    const error = await errorOf(client.chat(HELLO));
    expect(error).toBeInstanceOf(AppLimitError);
    expect(error).toMatchObject({ status, code, manageUrl, isRetryable: false });
    expect(error.resetsAt).toEqual(typeof at === 'string' ? new Date(at) : undefined);
  });

  test('a missing plan carries the page of the plans, and is no limit of the app', async () => {
    const manageUrl = 'https://svc.example/plans';
    service.answerNext(failure(402, 'subscription_inactive', { manage_url: manageUrl }));
    const error = await errorOf(client.chat(HELLO));
    expect(error).not.toBeInstanceOf(AppLimitError);
    expect(error).toMatchObject({ code: 'subscription_inactive', manageUrl, isRetryable: false });
  });

  test('an answer that says not to retry is not retryable, even if its code usually is', async () => {
    service.answerNext(failure(502, 'upstream_error', {}, { 'x-should-retry': 'false' }));
    expect(await errorOf(client.chat(HELLO))).toMatchObject({ code: 'upstream_error', isRetryable: false });
  });

  test('too many pending requests are retryable after a pause', async () => {
    service.answerNext(failure(429, 'subscription_requests_pending', {}, { 'retry-after': '3' }));
    expect(await errorOf(client.chat(HELLO))).toMatchObject({ isRetryable: true, retryAfterSeconds: 3 });
  });

  test.each([
    [502, 'upstream_error', true],
    [503, 'upstream_unavailable', true],
    [503, 'service_unavailable', true],
    [503, 'no_certified_route', false],
    [503, 'subscription_transcription_not_configured', false],
    [400, 'upstream_rejected', false],
    [500, 'internal_error', false],
    [503, 'something_of_a_later_release', false],
    // A known code with another status is treated as unknown.
    [504, 'upstream_error', false],
  ])('%i %s of a billed request: retryable %s', async (status, code, isRetryable) => {
    service.answerNext(failure(status, code));
    const error = await errorOf(client.chat(HELLO));
    expect(error).toMatchObject({ status, code, isRetryable });
    expect(error).not.toBeInstanceOf(OutcomeUnknownError);
  });

  test('an uncertain timeout is never retryable', async () => {
    service.answerNext(failure(504, 'upstream_timeout_uncertain', {}, { 'retry-after': '1' }));
    const error = await errorOf(client.chat(HELLO));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ isRetryable: false, requestId: REQUEST_ID });
  });

  test('a duplicate names the first request', async () => {
    service.answerNext(failure(409, 'duplicate_request', { request_id: 'req_first', state: 'settled' }));
    const error = await errorOf(client.chat(HELLO, { idempotencyKey: 'k' }));
    expect(error).toMatchObject({ isRetryable: false, details: { request_id: 'req_first', state: 'settled' } });
  });

  test('an invalid request names its faults', async () => {
    const fault = { loc: ['body', 'messages', 0, 'role'], msg: 'Field required', type: 'missing' };
    service.answerNext(json(422, { detail: [{ ...fault, input: {} }] }));
    const error = await errorOf(client.chat(HELLO));
    if (!(error instanceof ValidationFailedError)) throw error;
    expect(error.faults).toEqual([fault]);
    expect(error).toMatchObject({ status: 422, code: 'validation_failed', isRetryable: false });
    expect(error.message).toContain('body.messages.0.role: Field required');
  });

  test("a proxy's error leaves the outcome of a billed request unknown", async () => {
    service.answerNext((response) => void response.writeHead(502).end('<html>'));
    expect(await errorOf(client.chat(HELLO))).toBeInstanceOf(OutcomeUnknownError);
    service.answerNext((response) => void response.writeHead(502).end('<html>'));
    expect(await errorOf(client.usage())).toMatchObject({ code: 'invalid_answer', isRetryable: true });
    service.answerNext((response) => void response.writeHead(302, { location: 'https://evil.example' }).end());
    expect(await errorOf(client.usage())).toMatchObject({ status: 302, isRetryable: false });
  });

  test('an answer that violates the contract is an error', async () => {
    service.answerNext(json(200, { object: 'chat.completion' }), json(200, '{'));
    expect(await errorOf(client.chat(HELLO))).toMatchObject({ code: 'invalid_answer', requestId: REQUEST_ID });
    expect(await errorOf(client.usage())).toMatchObject({ code: 'invalid_answer' });
  });
});

describe('tokens', () => {
  test('a rejected token is renewed and the request sent once more', async () => {
    service.answerNext(failure(401, 'invalid_token'), json(200, completion('Salve')));
    await client.chat(HELLO);
    expect(asked).toEqual([{}, { rejected: 'token-1' }]);
    expect(service.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
    expect(service.requests[1]?.body).toEqual(service.requests[0]?.body);
  });

  test('is not tried a third time or with the same token', async () => {
    service.answerNext(failure(401, 'invalid_token'), failure(401, 'invalid_token'));
    expect(await errorOf(client.usage())).toMatchObject({ status: 401, code: 'invalid_token', isRetryable: false });
    expect(service.requests).toHaveLength(2);
    const fixed = createSvcClient({ baseUrl: service.url, tokens: async () => 'fixed' });
    service.answerNext(failure(401, 'invalid_token'));
    expect(await errorOf(fixed.usage())).toMatchObject({ code: 'invalid_token' });
    expect(service.requests).toHaveLength(3);
  });

  test('an ended connection is rethrown and nothing is sent', async () => {
    const ended = new ConnectionEndedError('usr_1');
    const disconnected = createSvcClient({ baseUrl: service.url, tokens: () => Promise.reject(ended) });
    await expect(disconnected.chat(HELLO)).rejects.toBe(ended);
    expect(service.requests).toEqual([]);
  });
});

describe('the network', () => {
  test('a request that was never sent is retryable', async () => {
    const nowhere = createSvcClient({ baseUrl: `http://127.0.0.1:${await freePort()}`, tokens: async () => 'token' });
    expect(await errorOf(nowhere.chat(HELLO))).toMatchObject({ code: 'connection_failed', isRetryable: true });
  });

  test('a connection that breaks leaves a billed request unknown and a read retryable', async () => {
    service.answerNext(hangUp, hangUp);
    const error = await errorOf(client.chat(HELLO));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ code: 'outcome_unknown', status: undefined, isRetryable: false });
    expect(await errorOf(client.usage())).toMatchObject({ code: 'no_answer', isRetryable: true });
  });

  test('a truncated answer leaves the outcome unknown and carries the request id', async () => {
    service.answerNext(async (response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{');
      await sleep(20);
      response.destroy();
    });
    expect(await errorOf(client.chat(HELLO))).toMatchObject({
      name: 'OutcomeUnknownError',
      requestId: REQUEST_ID,
      isRetryable: false,
    });
  });

  test('silence ends in a timeout, with unknown outcome if the request is billed', async () => {
    service.answerNext(silence, silence);
    expect(await errorOf(client.chat(HELLO, { timeoutMs: 50 }))).toBeInstanceOf(OutcomeUnknownError);
    expect(await errorOf(client.usage({ timeoutMs: 50 }))).toMatchObject({ code: 'no_answer', isRetryable: true });
  });

  test("the caller's signal aborts a call with the caller's reason", async () => {
    service.answerNext(silence);
    const controller = new AbortController();
    const call = client.chat(HELLO, { signal: controller.signal });
    const reason = new Error('the user has left');
    setTimeout(() => controller.abort(reason), 30);
    await expect(call).rejects.toBe(reason);
    await expect(client.usage({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(service.requests).toHaveLength(1);
  });
});

describe('options', () => {
  test('reject http to other hosts, and idempotency keys that no header can carry', async () => {
    const tokens = async () => 'token';
    expect(() => createSvcClient({ baseUrl: 'http://svc.example', tokens })).toThrow(TypeError);
    for (const idempotencyKey of ['', 'a\nb', 'è', 'x'.repeat(256)]) {
      await expect(client.chat(HELLO, { idempotencyKey })).rejects.toBeInstanceOf(TypeError);
    }
    expect(service.requests).toEqual([]);
  });
});
