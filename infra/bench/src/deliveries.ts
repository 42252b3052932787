import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { events, newId } from '@svc/contracts';
import { createTestAuthority, type TestAuthority, type TestTokens, testTokens } from '@svc/testing';
import { connect } from 'nats';
import pg from 'pg';
import { openClient } from './harness/http.ts';
import { closedLoop, interleave, type Round, timed } from './harness/load.ts';
import type { NodeProcess } from './harness/node-process.ts';
import { startOwnerStandIn } from './harness/owner-stand-in.ts';
import { foreignShare, processorMicroseconds } from './harness/processor-time.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { type RunningService, type Stack, startStack } from './harness/stack.ts';
import { readable, summarize } from './harness/statistics.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const APPS = 200;
/** Waiting for each app when a round of deliveries begins. */
const EVENTS_PER_APP = 40;
const CALLERS = 64;
const HALF = 0.5;
const LATENCY_SECONDS = 8;
const TICK_MS = 20;
const ARRIVALS_TIMEOUT_MS = 120_000;
const RECEIVER = new URL('./receiver/main.ts', import.meta.url).pathname;

interface World {
  readonly stack: Stack;
  readonly receiver: NodeProcess;
  readonly url: string;
  readonly certificateAuthority: string;
  readonly dispatcher: RunningService;
  readonly database: pg.Pool;
  readonly clientIds: readonly string[];
}

/** Measures the dispatcher against the bare https client, and from a commit to the receiver at half of its speed. */
export const measureDeliveries = async (): Promise<void> => {
  // PostgreSQL then knows when each transaction has committed.
  const stack = await startStack({ track_commit_timestamp: 'on' });
  const [authority, tokens, userId] = [await createTestAuthority(), await testTokens(), newId('usr')];
  const owner = await startOwnerStandIn(userId);
  try {
    const world = await prepare(stack, { authority, tokens, userId, ownerUrl: owner.url });
    const rate = await compareRates(world);
    await measureLatency(world, rate * HALF);
    await world.database.end();
  } finally {
    owner.stop();
    await tokens.stop();
    authority.remove();
    await stack.stop();
  }
};

const prepare = async (
  stack: Stack,
  around: { authority: TestAuthority; tokens: TestTokens; userId: string; ownerUrl: string },
): Promise<World> => {
  const { authority, tokens, userId, ownerUrl } = around;
  const { key, cert } = await authority.issue({ names: ['localhost'] });
  const receiver = await stack.startScript(RECEIVER, { KEY: key, CERT: cert });
  // It says its port first.
  const { port } = (await receiver.message()) as { port: number };
  const url = `https://localhost:${port}/webhooks`;
  const dispatcher = await stack.start('webhook-dispatcher', {
    ...{ PUBLIC_BASE_URL: tokens.publicBaseUrl, JWKS_URL: tokens.jwksUrl },
    ...{ AUTH_INTERNAL_URL: ownerUrl, BILLING_INTERNAL_URL: ownerUrl },
    ...{ WEBHOOK_ENCRYPTION_KEY: randomBytes(32).toString('base64'), WEBHOOK_EXTRA_CA_FILE: authority.caFile },
    WEBHOOK_ALLOW_TARGETS: `localhost:${port}`,
  });
  const clientIds = Array.from({ length: APPS }, () => newId('app'));
  const client = openClient(dispatcher.url, 4);
  const token = await tokens.consoleSession({ userId, accountType: 'business' });
  for (const id of clientIds) {
    await client.expect(200, { method: 'PUT', path: `/v1/integrations/apps/${id}/webhook`, token, json: { url } });
  }
  await client.close();
  const database = new pg.Pool({ connectionString: dispatcher.databaseUrl, max: 1 });
  const certificateAuthority = readFileSync(authority.caFile, 'utf8');
  return { stack, receiver, url, certificateAuthority, dispatcher, database, clientIds };
};

/** Stores events for every app at once, as the dispatcher stores them. */
const storeBacklog = async (database: pg.Pool, perApp: number): Promise<void> => {
  await database.query(
    `WITH grown AS (
       UPDATE lanes SET last_sequence = last_sequence + $1::int, due_at = coalesce(due_at, now())
       RETURNING client_id, generation, last_sequence - $1::int AS before
     ), placed AS (
       SELECT client_id, generation, before + n AS sequence,
         'evt_' || substr(client_id, 11) || lpad((before + n)::text, 6, '0') AS event_id
       FROM grown, generate_series(1, $1::int) AS n
     )
     INSERT INTO events (client_id, sequence, event_id, generation, event, body, created)
     SELECT client_id, sequence, event_id, generation, 'integration.test', convert_to(format($2, event_id, client_id, sequence), 'UTF8'),
       extract(epoch FROM now())::bigint
     FROM placed`,
    [perApp, BODY],
  );
};

const BODY = JSON.stringify({
  ...{
    api_version: '2026-01-01',
    event_id: '%1$s',
    event: 'integration.test',
    integration_id: '%2$s',
    sequence: '%3$s',
  },
  ...{ created: 1_790_000_000, user: { svc_user_id: newId('usr') }, data: { message: 'From a benchmark.' } },
});

type Arrivals = readonly (readonly [id: string, at: number])[];

/** What the receiver gets, in the order of arrival, until so many have come. */
const arrivalsOf = async (receiver: NodeProcess, count: number, cause: () => Promise<void>): Promise<Arrivals> => {
  receiver.send({ expect: count });
  const answer = receiver.message();
  await cause();
  const patience = new AbortController();
  const tooLate = sleep(ARRIVALS_TIMEOUT_MS, undefined, { signal: patience.signal }).then(() => {
    throw new Error(`${count} deliveries did not arrive in time`);
  });
  // The receiver answers nothing else.
  const { arrivals } = (await Promise.race([answer, tooLate])) as { arrivals: Arrivals };
  patience.abort();
  await tooLate.catch(() => undefined);
  return arrivals;
};

const compareRates = async (world: World): Promise<number> => {
  const { receiver, database, dispatcher } = world;
  let [delivered, microseconds] = [0, 0];
  const deliver = async (perApp: number): Promise<Round> => {
    const before = processorMicroseconds(dispatcher.process.pid);
    const arrivals = await arrivalsOf(receiver, APPS * perApp, () => storeBacklog(database, perApp));
    microseconds += processorMicroseconds(dispatcher.process.pid) - before;
    delivered += arrivals.length;
    const [first, last] = [arrivals[0]?.[1] ?? 0, arrivals.at(-1)?.[1] ?? 0];
    return { rate: ((arrivals.length - 1) / (last - first)) * 1000, milliseconds: [] };
  };
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS, ca: world.certificateAuthority });
  const bare = () => closedLoop({ callers: CALLERS, seconds: SECONDS }, () => timed(() => post(world.url, agent)));
  // Receivers are met with caution before they have been seen to answer soon, and code runs slowly before it is warm.
  await deliver(10);
  await bare();
  [delivered, microseconds] = [0, 0];
  const { results, foreign } = await interleave({ dispatcher: () => deliver(EVENTS_PER_APP), bare }, ROUNDS);
  agent.destroy();
  const share = `${Math.round((results.dispatcher.rate / results.bare.rate) * 100)} %`;
  say(
    `Kept-alive TLS to one receiver, ${APPS} apps with ${EVENTS_PER_APP} events each; foreign CPU share ${foreign.toFixed(2)}:\n`,
  );
  printTable(
    ['', 'deliveries/s', 'share of bare', 'CPU us/delivery'],
    [
      ['dispatcher, one process', results.dispatcher.rate, share, microseconds / delivered],
      [`bare https client, ${CALLERS} connections`, results.bare.rate, '100 %', '-'],
    ],
  );
  return results.dispatcher.rate;
};

const post = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': BODY.length };
    const call = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', resolve);
    });
    call.once('error', reject);
    call.end(BODY);
  });

/** Tells facts of auth at this rate, and reads when the events that they cause were committed and when they arrived. */
const measureLatency = async ({ stack, receiver, database, clientIds }: World, rate: number): Promise<void> => {
  const count = Math.ceil(rate * LATENCY_SECONDS);
  const nats = await connect({ servers: stack.natsUrl });
  const jetstream = nats.jetstream();
  const foreign = await foreignShare();
  const arrivals = await arrivalsOf(receiver, count, async () => {
    const startedAt = performance.now();
    const open: Promise<unknown>[] = [];
    while (open.length < count) {
      const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1000) * rate));
      while (open.length < due) {
        const fact = connectionCreated(clientIds[open.length % clientIds.length] ?? '');
        open.push(
          jetstream.publish(fact.subject, JSON.stringify(fact), { msgID: fact.id, timeout: ARRIVALS_TIMEOUT_MS }),
        );
      }
      await sleep(TICK_MS);
    }
    await Promise.all(open);
  });
  await nats.drain();
  const { rows } = await database.query<{ event_id: string; committed: number }>(
    `SELECT e.event_id, (extract(epoch FROM pg_xact_commit_timestamp(i.xmin)) * 1000)::float8 AS committed
     FROM inbox i JOIN events e ON e.fact_id = i.event_id`,
  );
  const committed = new Map(rows.map((row) => [row.event_id, row.committed]));
  const {
    count: samples,
    p50,
    p99,
    max,
  } = summarize(
    arrivals.map(([id, at]) => at - (committed.get(id) ?? Number.NaN)).filter((taken) => !Number.isNaN(taken)),
  );
  const took = ((arrivals.at(-1)?.[1] ?? 0) - (arrivals[0]?.[1] ?? 0)) / 1000;
  say(
    `Commit to receiver; of ${readable(rate)} facts/s told over NATS ${readable(count / took)} came through; foreign CPU share ${foreign.toFixed(2)}:\n`,
  );
  printTable(['samples', 'p50 ms', 'p99 ms', 'max ms'], [[String(samples), p50, p99, max]]);
  say(`Load average after: ${loadText()}.\n`);
};

const connectionCreated = (clientId: string) => {
  const [userId, now] = [newId('usr'), new Date().toISOString()];
  return {
    ...{ id: randomUUID(), subject: events.connectionCreated.subject, version: 1, occurred_at: now },
    aggregate: `connection:${userId}:${clientId}`,
    data: { svc_user_id: userId, client_id: clientId, grant_id: newId('grt'), scope: 'inference', connected_at: now },
  };
};
