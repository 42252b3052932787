import { execFile } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { trace } from '@opentelemetry/api';
import { type CollectedSpan, traceCollector, waitFor } from '@svc/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  AppError,
  bind,
  createInternalApp,
  createInternalClient,
  createLifecycle,
  createMetrics,
  openTraces,
  type TraceConfig,
} from '../src/index.ts';
import { internalTestRoutes } from './support/internal-contract.ts';
import { collectLogs, serve, startTestApp, testBindings, testRoutes } from './support/test-app.ts';
import { testAuthenticators } from './support/test-authenticators.ts';

const TOKEN = 'inference-gateway:service-credential-1';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER_SPAN = 'b7ad6b7169203331';

const config: TraceConfig = {
  OTEL_TRACES_EXPORTER: undefined,
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_EXPORTER_OTLP_HEADERS: undefined,
  OTEL_EXPORTER_OTLP_TIMEOUT: 1_000,
  OTEL_TRACES_SAMPLER_ARG: '1',
  OTEL_RESOURCE_ATTRIBUTES: undefined,
};

/** Sends traces to this collector until the test ends or `stop` is called. */
const turnOn = async (endpoint: string, changes: Partial<TraceConfig> = {}) => {
  const { logger, lines } = collectLogs();
  const life = createLifecycle({ logger });
  onTestFinished(() => void life.stop());
  await openTraces(life, {
    service: 'auth',
    config: { ...config, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...changes },
    logger,
  });
  return { stop: life.stop, lines };
};

const startCollector = async (answer?: (res: ServerResponse) => void) => {
  const collector = await traceCollector(answer === undefined ? {} : { answer });
  onTestFinished(() => collector.close());
  return collector;
};

/** Starts a public service that calls an internal one, each request in a trace. */
const startTwoServices = async () => {
  const { logger } = collectLogs();
  const internal = await serve(
    createInternalApp({
      service: 'billing',
      contract: Object.values(internalTestRoutes),
      bindings: [
        bind(internalTestRoutes.admit, async ({ body, req }) => {
          expect(req.headers.traceparent).toMatch(/^00-/);
          if (body.mode === 'refuse') throw new AppError('weekly_limit_exceeded');
          return { status: 204 };
        }),
      ],
      tokens: [TOKEN],
      logger,
      metrics: createMetrics('billing'),
      ready: async () => ({ database: true }),
    }),
  );
  const client = createInternalClient({ baseUrl: internal.url, token: TOKEN, timeoutMs: 2_000 });
  onTestFinished(() => client.close());
  const others = testBindings.filter(({ route }) => route !== testRoutes.createThing);
  const app = await startTestApp({
    authenticate: testAuthenticators,
    bindings: [
      ...others,
      bind(testRoutes.createThing, async ({ body }) => {
        await client.call(internalTestRoutes.admit, { body: { mode: body.name } });
        return { status: 201, body: { name: body.name } };
      }),
    ],
  });
  return { app, internalUrl: internal.url };
};

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.filter((span) => span.name === name);
  expect(found.length, `spans named ${name}`).toBe(1);
  // Its length was checked above.
  return found[0] as CollectedSpan;
};

describe('traces', () => {
  test('follow a request through two services, with route, status and error code', async () => {
    const collector = await startCollector();
    const { stop } = await turnOn(collector.url, {
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=a%20key',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=ignored',
    });
    const { app } = await startTwoServices();
    const traceparent = `00-${TRACE}-${CALLER_SPAN}-01`;
    await app.send('POST', '/v1/things', { headers: { traceparent }, body: { name: 'refuse' } });
    expect(await stop()).toBe(true);

    const { spans } = collector;
    const outer = named(spans, 'POST /v1/things');
    const call = named(spans, 'admit');
    const inner = named(spans, 'POST /internal/admissions');
    expect([outer.traceId, call.traceId, inner.traceId]).toEqual([TRACE, TRACE, TRACE]);
    expect([outer.parentSpanId, call.parentSpanId, inner.parentSpanId]).toEqual([
      CALLER_SPAN,
      outer.spanId,
      call.spanId,
    ]);
    expect(outer.service).toBe('auth');
    expect(outer.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/things',
      'http.response.status_code': 402,
      'svc.operation': 'createThing',
      'svc.request_id': expect.stringMatching(/^req_/),
      'svc.caller': 'public',
      'error.type': 'weekly_limit_exceeded',
    });
    expect(app.lines.find((line) => line['message'] === 'request')).toMatchObject({ trace_id: TRACE });
    expect(collector.headers).toMatchObject({ 'x-collector-key': 'a key' });
  });

  test('are separate for requests on one connection and contain no path, query, headers or body', async () => {
    const collector = await startCollector();
    const { stop } = await turnOn(collector.url);
    const { app, internalUrl } = await startTwoServices();
    await app.send('POST', '/v1/things', { body: { name: 'canary' } });
    await app.send('POST', '/v1/things', { body: { name: 'canary' }, headers: { traceparent: 'canary' } });
    const headers = { authorization: 'Bearer session-personal', 'x-mode': 'a', tracestate: 'canary=canary' };
    await app.send('GET', '/v1/things/canary?canary=canary', { headers });
    await app.send('GET', '/canary', { headers: { authorization: 'Bearer canary' } });
    for (const probe of ['healthz', 'readyz', 'metrics']) await fetch(`${internalUrl}/${probe}`);
    await stop();

    const { spans } = collector;
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(4);
    expect(spans.map(({ name }) => name).sort()).toEqual([
      'GET /v1/things/{thing_id}',
      ...Array(2).fill('POST /internal/admissions'),
      ...Array(2).fill('POST /v1/things'),
      ...Array(2).fill('admit'),
      'unmatched',
    ]);
    expect(spans.map(({ text }) => text).join()).not.toContain('canary');
  });

  test('are sampled at the configured ratio regardless of the caller', async () => {
    const collector = await startCollector();
    const { stop } = await turnOn(collector.url, { OTEL_TRACES_SAMPLER_ARG: '0' });
    const { app } = await startTwoServices();
    const traceparent = `00-${TRACE}-${CALLER_SPAN}-01`;
    await app.send('POST', '/v1/things', { headers: { traceparent }, body: { name: 'x' } });
    await stop();
    expect(collector.spans).toEqual([]);
  });

  test('are dropped with one warning if the collector refuses them, without delaying requests or shutdown', async () => {
    const collector = await startCollector((res) => res.writeHead(400).end());
    const { stop, lines } = await turnOn(collector.url);
    const { app } = await startTwoServices();
    const spansMax = 5_000;
    for (let count = 0; count < spansMax; count += 1) trace.getTracer('test').startSpan('flood').end();
    expect((await app.send('POST', '/v1/things', { body: { name: 'x' } })).status).toBe(201);
    await waitFor(async () => lines.length > 0);
    expect(await stop()).toBe(true);
    const warnings = lines.map((line) => line['message']);
    expect(warnings.filter((message) => String(message).includes('does not take spans'))).toHaveLength(1);
  });

  test('stop in bounded time if the collector never answers', async () => {
    const collector = await startCollector(() => {});
    const { stop, lines } = await turnOn(collector.url, { OTEL_EXPORTER_OTLP_TIMEOUT: 60_000 });
    trace.getTracer('test').startSpan('last').end();
    expect(await stop()).toBe(true);
    expect(lines.map((line) => line['message'])).toContain('the last spans were not sent');
    expect(trace.getTracer('test').startSpan('off').isRecording()).toBe(false);
  });

  test('are off unless a collector or exporter is configured, and then load nothing', async () => {
    const script = fileURLToPath(new URL('support/loaded-modules.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script]);
    const seen = JSON.parse(stdout);
    const off = { isOn: false, loaded: [] };
    expect(seen).toMatchObject({ unset: off, none: off, endpoint: { isOn: true }, exporter: { isOn: true } });
    expect(seen.endpoint.loaded).toContain('@opentelemetry/sdk-trace');
  });
});
