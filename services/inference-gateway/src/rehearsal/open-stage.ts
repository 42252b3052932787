import { randomBytes } from 'node:crypto';
import { admissionChannel, routes as contract, newId, readAdmissionsCall } from '@svc/contracts';
import {
  createLineChannel,
  createLogger,
  createMetrics,
  createServiceApp,
  type LineChannel,
  type Listener,
  listen,
  type Stage,
} from '@svc/service-kit';
import { type ApiKey, createKeyAuthenticator, newKeyText } from '../api-keys/index.ts';
import { createBillingClient } from '../billing/index.ts';
import { createCompletionMeters } from '../completions/index.ts';
import type { Config } from '../config.ts';
import { delegatedRoutes } from '../delegated/index.ts';
import { gatewayRoutes } from '../gateway/index.ts';
import type { HttpClient } from '../http1/index.ts';
import { createInFlight } from '../in-flight.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { jsonTasks } from '../json-tasks.ts';
import { runInline } from '../large-json/index.ts';
import { collectBody, createProviderClient, createRouteGates, openUpstream } from '../providers/index.ts';
import { parseRoutesFile, type RouteTable } from '../routes/index.ts';
import { createOpenStreams } from '../streaming/index.ts';
import { admitAll, STAND_IN_MODEL, standIn } from './stand-in.ts';

const SERVICE = 'inference-gateway';
const HERE = { host: '127.0.0.1', port: 0 };
/** Those that call at one time. */
export const CALLERS = 16;
/** One request in so many is for nothing that there is, which takes the way through Express. */
const LOST_EVERY = 32;
const ANSWER_BYTES_MAX = 1024 * 1024;
const LIMITS = { firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
const PROMPT = 'The quick brown fox jumps over the lazy dog. '.repeat(20);

/**
 * Opens the real application with clients of its own, between stand-ins of billing and of a provider on the loopback interface.
 * Nothing is recorded, billed or logged.
 */
export const openStage = async (config: Config): Promise<Stage> => {
  const other = await listen(standIn, { ...HERE, channel: channelOf(config) });
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
  if (number % LOST_EVERY === 0) return await callNothing(client, url);
  const isDelegated = number % 4 === 3;
  const route = isDelegated ? contract.createDelegatedChatCompletion : contract.createChatCompletion;
  const isStreamed = number % 4 === 2 || number % 8 === 7;
  const { members, headers } = clientOf(number);
  const body = {
    ...(isDelegated ? {} : { model: STAND_IN_MODEL }),
    ...members,
    messages: [{ role: 'user', content: PROMPT }],
    ...(isStreamed ? { stream: true } : {}),
  };
  const request = {
    origin: url,
    path: route.path,
    headers: { authorization: `Bearer ${KEY_TEXT}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const answer = await openUpstream(client, request, LIMITS);
  await collectBody(answer, ANSWER_BYTES_MAX);
  if (answer.status !== 200) throw new Error(`a request of the rehearsal was answered with status ${answer.status}`);
};

const callNothing = async (client: HttpClient, origin: string): Promise<void> => {
  const answer = await openUpstream(client, { origin, path: '/nothing', headers: {}, body: null }, LIMITS);
  await collectBody(answer, ANSWER_BYTES_MAX);
};

/**
 * Clients differ in what they send. Code that has seen more than four shapes of an object works for all of them; code that has seen
 * one is thrown away by the first caller that sends another.
 */
const CLIENTS = [
  { members: {}, headers: {} },
  { members: { max_tokens: 64 }, headers: { accept: '*/*' } },
  { members: { temperature: 0.5 }, headers: { 'user-agent': 'rehearsal' } },
  { members: { seed: 1, stop: 'never' }, headers: { 'accept-encoding': 'gzip', accept: 'application/json' } },
  { members: { top_p: 1, max_completion_tokens: 64 }, headers: { 'accept-language': 'en', 'user-agent': 'rehearsal' } },
] as const;

const clientOf = (number: number) => CLIENTS[number % CLIENTS.length] ?? CLIENTS[0];

/** What billing's side of a stage is reached by; nobody else knows it. */
const TOKEN = `inference-gateway:${randomBytes(32).toString('base64url')}`;

const channelOf = (config: Config): LineChannel =>
  createLineChannel({
    ...admissionChannel,
    readQuestion: readAdmissionsCall,
    answer: admitAll,
    tokens: [TOKEN],
    ...watchersOf(config),
  });

/** Nobody reads what they tell. */
const watchersOf = (config: Config) => ({
  metrics: createMetrics(SERVICE, { isOfProcess: false }),
  logger: createLogger({ service: SERVICE, level: config.LOG_LEVEL, destination: { write: () => {} } }),
});

const NO_LIMIT = { take: async () => () => {}, bytesTaken: () => 0 };

const createStagedApp = (config: Config, other: Listener) => {
  const { metrics, logger } = watchersOf(config);
  const admissionTimeoutMs = LIMITS.totalTimeoutMs;
  const billing = createBillingClient({ baseUrl: other.url, token: TOKEN, admissionTimeoutMs, logger });
  const client = createProviderClient({ connectTimeoutMs: admissionTimeoutMs });
  const table = routesTo(other.url);
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
    json: runInline(jsonTasks),
    requestMemory: NO_LIMIT,
    answerMemory: NO_LIMIT,
    keyStandings: { check: async () => {}, noteAdmitted: () => {}, forget: () => {} },
    meters: createCompletionMeters(metrics),
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
const KEY_TEXT = newKeyText();
const KEY: ApiKey = {
  ...{ id: newId('key'), userId, name: 'rehearsal', prefix: '' },
  ...{ requestsPerMinute: null, monthlyLimitMicros: null },
  ...{ createdAt: new Date(), expiresAt: null, lastUsedAt: null, sessionId: null },
};

const callers = {
  api_key: createKeyAuthenticator({
    find: async () => KEY,
    pepper: '',
    revocations: { isRevoked: () => false },
    onUse: () => {},
    clock: Date.now,
  }),
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

/** Read as the routes file is. */
const routesTo = (origin: string): RouteTable => {
  const route = {
    ...{ id: 'rehearsal', model: STAND_IN_MODEL, provider: 'rehearsal', upstream_model: STAND_IN_MODEL },
    ...{ service: 'chat', data_zone: 'EU', active: true },
    certification: { reference: 'rehearsal', certified_at: '2026-01-01', expires_at: '9999-01-01' },
    price: { input_micros_per_million: 1, output_micros_per_million: 1 },
  };
  const file = {
    providers: { rehearsal: { base_url: `${origin}/v1`, api_key_env: 'REHEARSAL', name: 'rehearsal' } },
    routes: [route],
    delegated: { chat: [route.id] },
  };
  return parseRoutesFile(JSON.stringify(file), {
    nowMs: Date.now(),
    providerKey: () => ({ value: 'rehearsal' }),
  });
};
