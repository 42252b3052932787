import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { AppError, createLogger, createMetrics } from '@svc/service-kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failWith, toCallerError } from '../src/forwarding/failure-response.ts';
import { forwardRequest } from '../src/forwarding/forward-request.ts';
import type { ForwardingDeps } from '../src/forwarding/forwarding-deps.ts';
import { createForwardingMeters } from '../src/forwarding/forwarding-deps.ts';
import { createOpenStreams } from '../src/forwarding/in-flight.ts';
import { holdRequest } from '../src/forwarding/read-request.ts';
import type { ResponseShape } from '../src/forwarding/response-shape.ts';
import { jsonResponseLimits, openResponseMemory } from '../src/large-json/index.ts';
import type { TokenRoute } from '../src/provider-routes/index.ts';
import { createProviderClient, createRouteGates } from '../src/providers/index.ts';
import { digestRequest } from '../src/wire/index.ts';
import { type RawProvider, startRawProvider } from './support/raw-provider.ts';

/** The stage of a failure alone decides if a request may be retried. */

const logger = createLogger({ service: 'test', level: 'silent' });
const metrics = createMetrics('test');
let raw: RawProvider;
let route: TokenRoute;
const clock = Date.now;
const providers = createProviderClient({ connectTimeoutMs: 1_000 });
const limits = { inFlightMax: 10, failuresMax: 100, pauseMs: 1_000 };
// The parts of the dependencies that `forwardRequest` uses.
const deps = {
  providers,
  gates: createRouteGates({ limits, clock, logger, metrics }),
  upstreamLimits: { firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000, totalTimeoutMs: 5_000 },
  streams: createOpenStreams(metrics),
  streamLimits: { eventBytesMax: 1_000_000, clientIdleTimeoutMs: 1_000, keepAliveMs: 15_000 },
  responseMemory: openResponseMemory(),
  meters: createForwardingMeters(metrics),
  clock,
} as unknown as ForwardingDeps;

beforeAll(async () => {
  raw = await startRawProvider();
  raw.handle = (req, res) => {
    const isStream = req.headers.accept === 'text/event-stream';
    res.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    res.end(isStream ? 'data: {"choices":[]}\n\ndata: [DONE]\n\n' : '{"choices":[]}');
  };
  route = {
    id: 'chat',
    model: 'm',
    upstreamModel: 'm',
    deployment: 'm',
    dataZone: 'EU',
    certification: 'TEST',
    certifiedFromMs: 0,
    certifiedUntilMs: Number.POSITIVE_INFINITY,
    service: 'chat',
    price: { input_micros_per_million: 1, output_micros_per_million: 1 },
    outputTokensMax: 100,
    contextTokensMax: 1_000,
    provider: {
      id: 'p',
      kind: 'common',
      name: 'P',
      origin: raw.url,
      basePath: '',
      apiKey: 'k',
      apiVersion: undefined,
    },
  };
});
afterAll(async () => {
  providers.close();
  await raw.stop();
});

const FAULTS: readonly (readonly [string, Error])[] = [
  ['a bug', new TypeError('x is not a function')],
  ['a worker that died', new Error('the worker exited')],
  ['a refusal of memory, which would be retryable before dispatch', new AppError('service_unavailable')],
];

/** Serves a request whose answer, or body if `isEarly`, meets a fault of the gateway. Returns the error and the outcome. */
const fail = async (fault: Error, { isStreamed, isEarly }: { isStreamed: boolean; isEarly: boolean }) => {
  const text = Buffer.from(`{"model":"m","messages":[{}],"stream":${isStreamed}}`);
  const reading = digestRequest(text, { kind: 'chat', members: new Set(['model', 'stream_options']) });
  if (!reading.ok) throw new Error('the request is invalid');
  const request = holdRequest(reading.digest, text, () => {});
  const outcomes: unknown[] = [];
  const thrower = (): never => {
    throw fault;
  };
  const shape: ResponseShape = {
    openReader: () => ({ limits: jsonResponseLimits(), shape: thrower }),
    shapeStream: thrower,
    sendsComments: true,
  };
  const book = {
    identity: { userId: 'usr_1', kind: 'api_key', startedAtMs: Date.now() },
    measureBy: () => {},
    noteAttempt: () => {},
    keepSpan: () => {},
    finishFailed: async (end: unknown) => void outcomes.push(end),
  } as unknown as Parameters<typeof forwardRequest>[1]['book'];
  const error = await forwardRequest(deps, {
    request,
    book,
    candidates: [route],
    path: '/chat/completions',
    shape,
    ...(isEarly ? { outputLimitOf: thrower } : {}),
    failureResponse: (failure) => failWith(toCallerError('api_key', failure)),
    context: { res: new ServerResponse(new IncomingMessage(new Socket())), log: logger },
  }).catch((thrown: unknown) => thrown);
  return { error, outcomes };
};

describe.each([false, true])('a failure of the gateway itself (stream: %s)', (isStreamed) => {
  test.each(FAULTS)('after dispatch is 504 without a retry, and uncertain: %s', async (_name, fault) => {
    raw.bodies.length = 0;
    const { error, outcomes } = await fail(fault, { isStreamed, isEarly: false });
    expect(error).toMatchObject({
      code: 'upstream_timeout_uncertain',
      status: 504,
      headers: { 'x-should-retry': 'false' },
    });
    expect(outcomes).toEqual([{ isUncertain: true, status: 504 }]);
    expect(raw.bodies).toHaveLength(1);
  });

  test.each(FAULTS)('before dispatch keeps its error, and releases the hold: %s', async (_name, fault) => {
    raw.bodies.length = 0;
    const { error, outcomes } = await fail(fault, { isStreamed, isEarly: true });
    expect(error).toBe(fault);
    expect(outcomes).toEqual([{ isUncertain: false, status: fault instanceof AppError ? 503 : 500 }]);
    expect(raw.bodies).toHaveLength(0);
  });
});
