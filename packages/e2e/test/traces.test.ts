import { readFile } from 'node:fs/promises';
import { type CollectedSpan, readSpans, waitFor } from '@svc/testing';
import { expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { chat, connect } from './support/partner.ts';
import { type Person, registerApp, signUp, subscribe } from './support/people.ts';
import { startReceiver } from './support/receiver.ts';

const readTraces = async (): Promise<CollectedSpan[]> =>
  (await readFile(inject('tracesFile'), 'utf8')).split('\n').flatMap((line) => (line === '' ? [] : readSpans(line)));

/** Returns the trace of a request once it contains a span of this name. */
const traceWith = (isRoot: (span: CollectedSpan) => boolean, lastName: string): Promise<CollectedSpan[]> =>
  waitFor(
    async () => {
      const spans = await readTraces();
      const { traceId } = spans.find(isRoot) ?? {};
      const trace = spans.filter((span) => span.traceId === traceId);
      return trace.some(({ name }) => name === lastName) ? trace : undefined;
    },
    { timeoutMs: 20_000, intervalMs: 200 },
  );

/** Returns the names of the spans from the root to the last one. */
const wayTo = (trace: readonly CollectedSpan[], last: CollectedSpan | undefined): string[] => {
  const parent = trace.find(({ spanId }) => spanId === last?.parentSpanId);
  return last === undefined ? [] : [...wayTo(trace, parent), `${last.service}: ${last.name}`];
};

const find = (trace: readonly CollectedSpan[], service: string, name: string) =>
  trace.find((span) => span.service === service && span.name === name);

const CHAT = 'POST /v1/integrations/inference/chat/completions';

test.each([
  { what: 'an answer', more: {} },
  { what: 'a stream', more: { stream: true } },
])(
  'one trace follows $what from the gateway through admission, PostgreSQL and NATS to settlement',
  async ({ more }) => {
    const app = await registerApp(await signUp('business'));
    const user: Person = await signUp('personal');
    await subscribe(user);
    const { accessToken } = await connect(user, app);
    const answer = await chat(accessToken, 'hello', more);
    const requestId = answer.headers.get('x-request-id');
    const isRoot = ({ name, attributes }: CollectedSpan) => name === CHAT && attributes['svc.request_id'] === requestId;
    const trace = await traceWith(isRoot, 'process inference.usage.recorded.v1');

    expect(wayTo(trace, find(trace, 'billing', 'POST /internal/admission-batches'))).toEqual([
      `inference-gateway: ${CHAT}`,
      'inference-gateway: admitRequests',
      'billing: POST /internal/admission-batches',
    ]);
    const admission = trace.find(({ attributes }) => String(attributes['db.query.summary']).startsWith('admit'));
    expect(wayTo(trace, admission).slice(0, -1)).toContain('billing: POST /internal/admission-batches');
    expect(wayTo(trace, find(trace, 'billing', 'process inference.usage.recorded.v1'))).toEqual([
      `inference-gateway: ${CHAT}`,
      'inference-gateway: send inference.usage.recorded.v1',
      'billing: process inference.usage.recorded.v1',
    ]);
    const exchange = trace.find(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat');
    expect(exchange?.attributes).toMatchObject({
      'gen_ai.request.model': expect.any(String),
      'gen_ai.response.model': expect.any(String),
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'server.address': '127.0.0.1',
    });
    expect(find(trace, 'billing', 'POST /internal/settlements')).toBeDefined();
  },
);

test('one trace follows a consent through NATS to the dispatcher, without trace headers to the receiver', async () => {
  const receiver = await startReceiver();
  const business = await signUp('business');
  const app = await registerApp(business);
  await call('PUT', `/v1/integrations/apps/${app.clientId}/webhook`, {
    token: business.token,
    body: { url: receiver.url },
  });
  const user = await signUp('personal');
  await connect(user, app);
  const delivery = await receiver.waitForEvent('integration.connected', user.userId);
  expect(delivery.headers).not.toHaveProperty('traceparent');
  const isRoot = ({ name }: CollectedSpan) => name === 'POST /v1/integrations/oauth/authorize';
  const trace = await traceWith(isRoot, 'process auth.connection.created.v1');
  expect(wayTo(trace, find(trace, 'webhook-dispatcher', 'process auth.connection.created.v1'))).toEqual([
    'auth: POST /v1/integrations/oauth/authorize',
    'auth: send auth.connection.created.v1',
    'webhook-dispatcher: process auth.connection.created.v1',
  ]);
  await receiver.close();
});
