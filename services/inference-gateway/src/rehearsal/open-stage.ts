import { routes as contract, newId } from '@svc/contracts';
import { createLogger, createMetrics, createServiceApp, type Listener, listen, type Stage } from '@svc/service-kit';
import { createBillingClient } from '../billing-client.ts';
import type { Config } from '../config.ts';
import { delegatedRoutes } from '../delegated/index.ts';
import { gatewayRoutes } from '../gateway/index.ts';
import type { HttpClient } from '../http1/index.ts';
import { createInFlight } from '../in-flight.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { collectBody, createProviderClient, createRouteGates, openUpstream } from '../providers/index.ts';
import { createRouteTable, type TokenRoute } from '../routes/index.ts';
import { createOpenStreams } from '../streaming/index.ts';
import { STAND_IN_MODEL, standIn } from './stand-in.ts';

const SERVICE = 'inference-gateway';
const HERE = { host: '127.0.0.1', port: 0 };
/** Those that call at one time. */
export const CALLERS = 16;
const ANSWER_BYTES_MAX = 1024 * 1024;
const LIMITS = { firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
const PROMPT = 'The quick brown fox jumps over the lazy dog. '.repeat(20);

/**
 * Opens the real application with clients of its own, between stand-ins of billing and of a provider on the loopback interface.
 * Nothing is recorded, billed or logged.
 */
export const openStage = async (config: Config): Promise<Stage> => {
  const other = await listen(standIn, HERE);
  const { app, client, close } = createStagedApp(config, other);
  const gateway = await listen(app, HERE).catch(async (error: unknown) => {
    close();
    await other.drain(0);
    throw error;
  });
  return {
    call: (number) => call(client, gateway.url, number),
    close: async () => {
      await gateway.drain(0);
      close();
      await other.drain(0);
    },
  };
};

/** Half of them JSON with an API key, a quarter streams with one, the rest both for an app. */
const call = async (client: HttpClient, url: string, number: number): Promise<void> => {
  const isDelegated = number % 4 === 3;
  const route = isDelegated ? contract.createDelegatedChatCompletion : contract.createChatCompletion;
  const isStreamed = number % 4 === 2 || number % 8 === 7;
  const messages = [{ role: 'user', content: PROMPT }];
  const body = { ...(isDelegated ? {} : { model: STAND_IN_MODEL }), messages, ...(isStreamed ? { stream: true } : {}) };
  const headers = { authorization: 'Bearer rehearsal', 'content-type': 'application/json' };
  const request = { origin: url, path: route.path, headers, body: JSON.stringify(body) };
  const answer = await openUpstream(client, request, LIMITS);
  await collectBody(answer, ANSWER_BYTES_MAX);
  if (answer.status !== 200) throw new Error(`a request of the rehearsal was answered with status ${answer.status}`);
};

const createStagedApp = (config: Config, other: Listener) => {
  const metrics = createMetrics(SERVICE, { isOfProcess: false });
  const logger = createLogger({ service: SERVICE, level: config.LOG_LEVEL, destination: { write: () => {} } });
  const admissionTimeoutMs = LIMITS.totalTimeoutMs;
  const billing = createBillingClient({ baseUrl: other.url, token: 'rehearsal', admissionTimeoutMs, logger });
  const client = createProviderClient({ connectTimeoutMs: admissionTimeoutMs });
  const route = routeTo(other.url);
  const table = createRouteTable({
    routes: [route],
    configuredModels: [route],
    delegatedChat: [route.id],
    delegatedTranscription: [],
  });
  const gateLimits = { inFlightMax: CALLERS, failuresMax: 1_000_000, pauseMs: 1 };
  const deps: InferenceDeps = {
    billing,
    usage: { hasRoom: () => true, add: () => {}, written: async () => {}, drain: async () => {} },
    routes: () => table,
    providers: client,
    gates: createRouteGates({ limits: gateLimits, clock: Date.now, logger, metrics }),
    inFlight: createInFlight(),
    streams: createOpenStreams(metrics),
    upstreamLimits: LIMITS,
    streamLimits: { eventBytesMax: ANSWER_BYTES_MAX, clientIdleTimeoutMs: LIMITS.idleTimeoutMs },
    ingressRegion: config.INGRESS_REGION,
    defaultOutputTokens: config.DEFAULT_OUTPUT_TOKENS,
    outputTokensMax: config.DEFAULT_OUTPUT_TOKENS,
    clock: Date.now,
  };
  const app = createServiceApp({
    service: SERVICE,
    bindings: [...delegatedRoutes(deps), ...gatewayRoutes(deps)],
    authenticate: callers,
    ...{ logger, metrics },
  });
  const close = (): void => {
    billing.close();
    client.close();
  };
  return { app, client, close };
};

const userId = newId('usr');
const callers = {
  api_key: async () => ({ kind: 'api_key', keyId: 'rehearsal', userId }) as const,
  oauth_access_token: async () =>
    ({
      kind: 'oauth_access_token',
      userId,
      clientId: newId('app'),
      grantId: 'rehearsal',
      tokenId: 'rehearsal',
      scopes: new Set<string>(contract.createDelegatedChatCompletion.scopes),
      expiresAt: new Date(Number.MAX_SAFE_INTEGER),
    }) as const,
};

const routeTo = (origin: string): TokenRoute => ({
  id: 'rehearsal',
  model: STAND_IN_MODEL,
  upstreamModel: STAND_IN_MODEL,
  deployment: STAND_IN_MODEL,
  service: 'chat',
  provider: {
    id: 'rehearsal',
    kind: 'common',
    name: 'rehearsal',
    origin,
    basePath: '/v1',
    apiKey: 'rehearsal',
    apiVersion: undefined,
  },
  dataZone: 'EU',
  certifiedFromMs: 0,
  certifiedUntilMs: Number.POSITIVE_INFINITY,
  price: { input_micros_per_million: 1, output_micros_per_million: 1 },
});
