import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import { type TestTokens, testTokens } from '@svc/testing';
import { freePort } from '@svc/testing/servers';
import pg from 'pg';
import {
  CHAT_MODEL,
  createKeys,
  createSubscribers,
  type GatewayUnderTest,
  startGateway,
  startProvider,
} from './gateway-under-test.ts';
import { type Client, openClient } from './harness/http.ts';
import { say } from './harness/report.ts';
import { type RunningService, type Stack, startStack } from './harness/stack.ts';
import { createRandom } from './harness/statistics.ts';

const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 500);
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 100);
const KILLS = Number(process.env['BENCH_KILLS'] ?? 4);
const SEED = Number(process.env['BENCH_SEED'] ?? 1);
const SENDERS = 24;
/** All requests are alike, so that the provider's bill gives the number of answers and each costs the same. */
export const PROMPT = 'Say something about Lake Como. [[delay_ms=30]]';
const SETTLED_WITHIN_MS = 60_000;
const RETRY_AFTER_MS = 100;

/** A reservation at billing. */
interface Reservation {
  readonly request_id: string;
  readonly state: string;
  readonly cost_micros: string | null;
}

interface AccountRoute {
  readonly path: string;
  readonly token: string;
  readonly model?: string;
}

/** Services, their provider and accounts. */
export interface World extends GatewayUnderTest {
  readonly stack: Stack;
  readonly provider: Client;
  /** One route per account: half of them are paid by subscriptions, half by wallets. */
  readonly routes: readonly AccountRoute[];
  gateway: RunningService;
  billing: RunningService;
}

/** Result of a run; the last three must be 0. */
export interface ChaosResult {
  readonly answered: number;
  readonly billed: number;
  readonly settled: number;
  readonly uncertain: number;
  /** Answered requests that billing did not settle, or not at the provider's cost. */
  readonly wrong: number;
  /** Billed requests that are neither settled nor uncertain, plus settled ones unknown to the provider. */
  readonly difference: number;
  /** Reservations that have not ended. */
  readonly open: number;
}

/**
 * Sends requests while gateway, billing, NATS and PostgreSQL are killed at seeded moments, then compares all accounts.
 */
export const measureChaos = async (): Promise<void> => {
  const plan = { requests: REQUESTS, accounts: ACCOUNTS, kills: KILLS, seed: SEED };
  const startedAt = performance.now();
  const result = await runChaos(plan);
  say(
    `${JSON.stringify(plan)} in ${Math.round((performance.now() - startedAt) / 1000)} s:\n\n${JSON.stringify(result)}\n`,
  );
  if (result.wrong + result.difference + result.open > 0) process.exitCode = 1;
};

/** Runs `measureChaos` and returns the result. */
export const runChaos = async (plan: {
  requests: number;
  accounts: number;
  kills: number;
  seed: number;
}): Promise<ChaosResult> => {
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    const world = await prepare(stack, tokens, plan.accounts);
    const answered = await send(world, plan);
    return await compare(world, answered);
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

/** Starts the services and creates accounts. */
export const prepare = async (stack: Stack, tokens: TestTokens, accounts: number): Promise<World> => {
  const { providerUrl, providerKey } = await startProvider(stack);
  const ports = async () => ({ PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) });
  const services = await startGateway(stack, {
    tokens,
    providerUrl,
    providerKey,
    env: await ports(),
    billingEnv: await ports(),
  });
  const ofApps = await createSubscribers(services, tokens, Math.ceil(accounts / 2));
  const ofKeys = await createKeys(services, tokens, Math.floor(accounts / 2));
  const routes = [
    ...ofApps.map((token) => ({ path: '/v1/integrations/inference/chat/completions', token })),
    ...ofKeys.map((token) => ({ path: '/v1/chat/completions', token, model: CHAT_MODEL })),
  ];
  return { ...services, stack, provider: openClient(providerUrl, 1), routes };
};

/** Sends until the given number of requests is answered. A failed request is replaced by a new one. */
const send = async (world: World, plan: { requests: number; kills: number; seed: number }): Promise<Set<string>> => {
  const random = createRandom(plan.seed);
  // One random moment in each of as many equal parts of the run.
  const moments = Array.from({ length: plan.kills }, (_, part) =>
    Math.floor(((part + random()) / plan.kills) * plan.requests),
  );
  const answered = new Set<string>();
  const client = openClient(world.gateway.url, SENDERS);
  let kills: Promise<void> = Promise.resolve();
  let killed = 0;
  let next = 0;
  const sendOne = async (): Promise<void> => {
    next += 1;
    const route = world.routes[next % world.routes.length];
    if (route === undefined) throw new Error('no accounts');
    const { path, token, model } = route;
    const json = { model, messages: [{ role: 'user', content: PROMPT }] };
    const requestId = newId('req');
    const headers = { 'x-request-id': requestId };
    const answer = await client.call({ method: 'POST', path, token, json, headers }).catch(() => undefined);
    if (answer?.status === 200) answered.add(requestId);
    else await sleep(RETRY_AFTER_MS);
    const due = moments[killed];
    if (due !== undefined && answered.size >= due) {
      const turn = killed;
      killed += 1;
      kills = kills.then(() => kill(world, turn));
    }
  };
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (answered.size < plan.requests) await sendOne();
    }),
  );
  await kills;
  await client.close();
  return answered;
};

/** Kills one of the four and restarts it in place. */
const kill = async (world: World, turn: number): Promise<void> => {
  const name = (['gateway', 'billing', 'nats', 'postgres'] as const)[turn % 4] ?? 'gateway';
  if (name === 'nats' || name === 'postgres') {
    await world.stack[name].restart('kill');
    return;
  }
  process.kill(world[name].process.pid, 'SIGKILL');
  world[name] = await world[name].replica();
};

const ENDED_AND_OPEN = `
  SELECT request_id, state, cost_micros FROM reservations
  UNION ALL SELECT request_id, state, cost_micros FROM key_requests
  UNION ALL SELECT request_id, 'uncertain', NULL FROM uncertain_key_requests`;

/** Waits until all is settled, then compares the answers, billing's rows and the provider's count. */
export const compare = async (world: World, answered: ReadonlySet<string>): Promise<ChaosResult> => {
  const database = new pg.Client(world.billing.databaseUrl);
  await database.connect();
  const read = async () => (await database.query<Reservation>(ENDED_AND_OPEN)).rows;
  const endsAt = performance.now() + SETTLED_WITHIN_MS;
  const isWaitedFor = ({ request_id: id, state }: Reservation) =>
    state === 'reserved' || (state === 'uncertain' && answered.has(id));
  let rows = await read();
  while (rows.some(isWaitedFor) && performance.now() < endsAt) {
    await sleep(500);
    rows = await read();
  }
  await database.end();
  const counts = await world.provider.expect(200, { path: '/sandbox/counts' });
  const billed = Number(/"billed":\{"requests":(\d+)/.exec(counts.text)?.[1]);
  const of = (wanted: string) => rows.filter(({ state }) => state === wanted);
  const settled = of('settled').filter(({ cost_micros: cost }) => Number(cost) > 0);
  const uncertain = of('uncertain');
  const price = Number(settled[0]?.cost_micros);
  const right = new Set(settled.filter(({ cost_micros: cost }) => Number(cost) === price).map((row) => row.request_id));
  const open = [...answered].filter((id) => !right.has(id));
  say(`settled ${settled.length * price} micros, ${price} each`);
  return {
    answered: answered.size,
    billed,
    settled: settled.length,
    uncertain: uncertain.length,
    wrong: settled.length - right.size + open.length,
    difference: Math.max(0, billed - settled.length - uncertain.length) + Math.max(0, settled.length - billed),
    open: of('reserved').length,
  };
};
