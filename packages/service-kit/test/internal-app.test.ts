import { newId } from '@svc/contracts';
import { expect, test } from 'vitest';
import {
  AppError,
  bind,
  createInternalApp,
  createInternalClient,
  createMetrics,
  type InternalAppOptions,
} from '../src/index.ts';
import { internalTestRoutes as routes } from './support/internal-contract.ts';
import { collectLogs, serve } from './support/test-app.ts';

const TOKEN = 'inference-gateway:service-credential-1';

const bindings = [
  bind(routes.getAccount, async ({ params, query, requestId }) => ({
    status: 200,
    body: { account_id: params.account_id, limit: query.limit ?? null, request_id: requestId },
  })),
  bind(routes.admit, async ({ body }) => {
    switch (body.mode) {
      case 'nothing':
        return { status: 204 };
      case 'refuse':
        throw new AppError('weekly_limit_exceeded', 'Cap.', {
          details: { resets_at: 'x' },
          headers: { 'retry-after': '9' },
        });
      case 'bug':
        throw new Error('bug');
      case 'broken':
        return { status: 200, body: { verdict: 'canary' } };
      case 'undeclared':
        return { status: 202, body: {} };
      case 'slow':
        await new Promise((resolve) => setTimeout(resolve, 300).unref());
        return { status: 204 };
      default:
        return { status: 200, body: { verdict: 'admitted' } };
    }
  }),
];

const start = async (options: Partial<InternalAppOptions> = {}) => {
  const { logger, lines } = collectLogs();
  const { url } = await serve(
    createInternalApp({
      service: 'billing',
      contract: Object.values(routes),
      bindings,
      tokens: [TOKEN],
      logger,
      metrics: createMetrics('billing'),
      ready: async () => ({ database: true }),
      ...options,
    }),
  );
  const client = createInternalClient({ baseUrl: url, token: TOKEN, timeoutMs: 2_000 });
  return { url, client, lines };
};

test('returns 200 from /healthz even if the checks fail', async () => {
  const { url } = await start({ ready: () => Promise.reject(new Error('database')) });
  const response = await fetch(`${url}/healthz`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
});

test.each([
  [
    'all checks pass',
    async () => ({ database: true, nats: true }),
    200,
    { status: 'ready', checks: { database: true, nats: true } },
  ],
  [
    'one check fails',
    async () => ({ database: true, nats: false }),
    503,
    { status: 'not_ready', checks: { database: true, nats: false } },
  ],
  [
    'the checks reject',
    () => Promise.reject(new Error('x')),
    503,
    { status: 'not_ready', checks: { checks_answered: false } },
  ],
  [
    'the checks throw',
    () => {
      throw new Error('x');
    },
    503,
    { status: 'not_ready', checks: { checks_answered: false } },
  ],
  [
    'the checks hang',
    () => new Promise<never>(() => undefined),
    503,
    { status: 'not_ready', checks: { checks_answered: false } },
  ],
])('/readyz when %s', async (_name, ready, status, body) => {
  const { url } = await start({ ready });
  const response = await fetch(`${url}/readyz`);
  expect([response.status, await response.json()]).toEqual([status, body]);
});

test('returns 503 from /readyz after the stop signal', async () => {
  const { url } = await start({ lifecycle: { isStopping: true } });
  const response = await fetch(`${url}/readyz`);
  expect([response.status, await response.json()]).toEqual([503, { status: 'stopping', checks: {} }]);
});

test('serves Prometheus text at /metrics and logs probes only at level debug', async () => {
  const { url, lines } = await start();
  const response = await fetch(`${url}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(await response.text()).toContain('process_cpu_user_seconds_total');
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]).toMatchObject({ level: 'debug', operation: 'metrics' });
});

test('sends parameters, query, body and request id, and types the response', async () => {
  const { client } = await start();
  const requestId = newId('req');
  const answer = await client.call(routes.getAccount, {
    params: { account_id: 'a/b?c' },
    query: { limit: 5, name: undefined },
    requestId,
  });
  expect(answer).toEqual({ status: 200, body: { account_id: 'a/b?c', limit: 5, request_id: requestId } });
  const admitted = await client.call(routes.admit, { body: { mode: 'ok' } });
  if (admitted.status === 200) expect(admitted.body.verdict).toBe('admitted');
  expect(await client.call(routes.admit, { body: { mode: 'nothing' } })).toEqual({ status: 204, body: undefined });
  await client.close();
});

test('throws the code of a refusal, 500 for contract faults and 503 for failures', async () => {
  const { client, url } = await start();
  const admit = (mode: string) => client.call(routes.admit, { body: { mode } });
  await expect(admit('refuse')).rejects.toMatchObject({
    code: 'weekly_limit_exceeded',
    status: 402,
    publicMessage: 'Cap.',
    details: { resets_at: 'x' },
    headers: { 'retry-after': '9' },
  });
  await expect(admit('bug')).rejects.toMatchObject({ code: 'service_unavailable', kind: 'unavailable' });
  await expect(admit('broken')).rejects.toMatchObject({
    code: 'internal_error',
    cause: { message: expect.not.stringContaining('canary') },
  });
  await expect(admit('undeclared')).rejects.toMatchObject({ code: 'internal_error' });
  const stranger = createInternalClient({
    baseUrl: url,
    token: 'inference-gateway:not-accepted-anywhere',
    timeoutMs: 2_000,
  });
  await expect(stranger.call(routes.admit, { body: { mode: 'ok' } })).rejects.toMatchObject({ code: 'internal_error' });
  const elsewhere = createInternalClient({ baseUrl: `${url}/elsewhere`, token: TOKEN, timeoutMs: 2_000 });
  await expect(elsewhere.call(routes.admit, { body: { mode: 'ok' } })).rejects.toMatchObject({ status: 404 });
});

test('throws on timeout, on abort and on a refused connection', async () => {
  const { client } = await start();
  const late = client.call(routes.admit, { body: { mode: 'slow' }, timeoutMs: 50 });
  await expect(late).rejects.toMatchObject({ code: 'service_unavailable', cause: { name: 'TimeoutError' } });
  const cancelled = client.call(routes.admit, { body: { mode: 'slow' }, signal: AbortSignal.timeout(50) });
  await expect(cancelled).rejects.toMatchObject({ code: 'service_unavailable' });
  const unreachable = createInternalClient({ baseUrl: 'http://127.0.0.1:1', token: TOKEN, timeoutMs: 2_000 });
  await expect(unreachable.call(routes.admit, { body: { mode: 'ok' } })).rejects.toMatchObject({
    code: 'service_unavailable',
  });
});
