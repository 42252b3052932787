import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { durables } from '@svc/contracts';
import { connectToBroker } from '@svc/messaging/broker';
import { type TestTokens, testTokens } from '@svc/testing';
import type { NatsConnection } from 'nats';
import pg from 'pg';
import { CHAT_MODEL, createKeys, createSubscribers, startGateway, startProvider } from './gateway-under-test.ts';
import { openClient } from './harness/http.ts';
import { askForTokens, codeGrant, consent, registerApp, signUp } from './harness/people.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { type RunningService, type Stack, startStack } from './harness/stack.ts';
import { connectionCreated, startWorld, toMessage } from './webhooks/dispatcher-under-test.ts';

const COUNT = Number(process.env['BENCH_REQUESTS'] ?? 2_000);
/** Signing up hashes a password. */
const PEOPLE = Math.ceil(COUNT / 10);
const CALLERS = 16;
const MESSAGES = [{ role: 'user', content: 'Say something about Lake Como.' }];
const SETTLED_WITHIN_MS = 120_000;
const POLL_MS = 500;
/** Time for the last lines of a log, which processes write in batches. */
const LOGS_MS = 1_500;
/** Tables that facts pass through. The others keep their rows for as long as docs/scale.md says. */
const PASSING = ['outbox', 'inbox', 'inbox_versions'];

/** Bytes since the start. */
interface Amounts {
  readonly kept: number;
  readonly passing: number;
  readonly wal: number;
  readonly broker: number;
  readonly logs: number;
}

/** Services whose bytes are counted, with their servers. */
interface Measured {
  readonly services: readonly RunningService[];
  readonly databases: readonly pg.Client[];
  readonly broker: NatsConnection;
}

/** Measures the bytes that each kind of request, a person, a connection and a webhook event leave behind. */
export const measureCapacity = async (options: readonly string[]): Promise<void> => {
  const { values } = parseArgs({ args: [...options], options: { only: { type: 'string' } } });
  const rows: [string, Amounts][] = [];
  for (const [name, run] of Object.entries(parts)) {
    if (values.only === undefined || values.only === name) rows.push(...(await run()));
  }
  say(`Bytes each, of ${COUNT} (people: ${PEOPLE}):\n`);
  printTable(
    ['', 'PostgreSQL kept', 'outbox, inbox', 'WAL', 'NATS', 'logs'],
    rows.map(([name, { kept, passing, wal, broker, logs }]) => [name, kept, passing, wal, broker, logs]),
  );
  say(`Load average after: ${loadText()}.\n`);
};

const measureRequests = async (): Promise<[string, Amounts][]> => {
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    const services = await startGateway(stack, { tokens, ...(await startProvider(stack)) });
    const measured = await open(stack, [services.billing, services.gateway]);
    const rows = await sendRequests(services, tokens, measured);
    await close(measured);
    return rows;
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

const sendRequests = async (
  services: { readonly billing: RunningService; readonly gateway: RunningService },
  tokens: TestTokens,
  measured: Measured,
): Promise<[string, Amounts][]> => {
  const client = openClient(services.gateway.url, CALLERS);
  const ofApps = await createSubscribers(services, tokens, CALLERS);
  const ofKeys = await createKeys(services, tokens, CALLERS);
  const delegated = '/v1/integrations/inference/chat/completions';
  // API keys first: apps leave open requests behind, whose space a later vacuum gives back.
  const kinds = [
    {
      name: 'API-key chat',
      path: '/v1/chat/completions',
      credentials: ofKeys,
      json: { model: CHAT_MODEL, messages: MESSAGES },
    },
    {
      name: 'embeddings',
      path: '/v1/embeddings',
      credentials: ofKeys,
      json: { model: 'svc-embedding', input: 'Lake Como' },
    },
    { name: 'delegated chat', path: delegated, credentials: ofApps, json: { messages: MESSAGES } },
    { name: 'delegated stream', path: delegated, credentials: ofApps, json: { messages: MESSAGES, stream: true } },
  ];
  const rows: [string, Amounts][] = [];
  for (const { name, path, credentials, json } of kinds) {
    const send = async (caller: number) => {
      const token = credentials[caller] ?? '';
      await client.expect(200, { method: 'POST', path, token, json });
    };
    // Creates what exists once for an account.
    await inParallel(CALLERS, send);
    rows.push([name, await measure(measured, COUNT, () => inParallel(COUNT, send))]);
  }
  await client.close();
  return rows;
};

const measurePeople = async (): Promise<[string, Amounts][]> => {
  const stack = await startStack();
  try {
    const auth = await stack.start('auth');
    const measured = await open(stack, [auth]);
    const client = openClient(auth.url, CALLERS);
    const app = await registerApp(client, await signUp(client, 'business'));
    const people: Awaited<ReturnType<typeof signUp>>[] = [];
    const person = await measure(measured, PEOPLE, () =>
      inParallel(PEOPLE, async () => void people.push(await signUp(client, 'personal'))),
    );
    const connection = await measure(measured, people.length, async () => {
      for (const each of people) await askForTokens(client, app, codeGrant(await consent(client, each, app)));
    });
    await Promise.all([client.close(), close(measured)]);
    return [
      ['person, signed up and in', person],
      ['connection, with tokens', connection],
    ];
  } finally {
    await stack.stop();
  }
};

const measureEvents = async (): Promise<[string, Amounts][]> => {
  const world = await startWorld();
  try {
    const measured = await open(world.stack, [world.dispatcher]);
    const clientIds = await world.addApps(CALLERS, '/');
    const stream = measured.broker.jetstream();
    const delivered = async (): Promise<number> => {
      const { rows } = await world.database.query("SELECT count(*) FROM events WHERE status = 'delivered'");
      return Number(rows[0]?.count);
    };
    const amounts = await measure(measured, COUNT, async () => {
      await inParallel(COUNT, async (caller) => {
        const message = toMessage(connectionCreated(clientIds[caller] ?? ''));
        await stream.publish(message.subject, JSON.stringify(message));
      });
      await until(async () => (await delivered()) >= COUNT);
    });
    await close(measured);
    return [['webhook event, delivered', amounts]];
  } finally {
    await world.stop();
  }
};

/** Parts of the measurement. Each starts its servers. */
const parts: Readonly<Record<string, () => Promise<[string, Amounts][]>>> = {
  requests: measureRequests,
  people: measurePeople,
  events: measureEvents,
};

const open = async (stack: Stack, services: readonly RunningService[]): Promise<Measured> => {
  const databases = services.map(({ databaseUrl }) => new pg.Client(databaseUrl));
  // After a failure its server stops first. Without a listener that would hide the failure.
  for (const database of databases) database.on('error', () => undefined);
  await Promise.all(databases.map((database) => database.connect()));
  return { services, databases, broker: await connectToBroker({ url: stack.natsUrlOf('operator'), name: 'operator' }) };
};

const close = async ({ databases, broker }: Measured): Promise<void> => {
  await Promise.all([...databases.map((database) => database.end()), broker.close()]);
};

const measure = async (measured: Measured, count: number, work: () => Promise<void>): Promise<Amounts> => {
  const before = await read(measured);
  await work();
  await until(() => areFactsHandled(measured));
  await sleep(LOGS_MS);
  const after = await read(measured);
  const each = (of: keyof Amounts) => (after[of] - before[of]) / count;
  return {
    kept: each('kept'),
    passing: each('passing'),
    wal: each('wal'),
    broker: each('broker'),
    logs: each('logs'),
  };
};

const read = async ({ services, databases, broker }: Measured): Promise<Amounts> => {
  const sizes = await Promise.all(
    databases.map((database) =>
      database.query<{ passing: string; total: string; wal: string }>(
        `SELECT sum(pg_total_relation_size(oid)) AS total, pg_current_wal_lsn() - '0/0' AS wal,
           sum(pg_total_relation_size(oid)) FILTER (WHERE relname = ANY ($1)) AS passing
         FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
        [PASSING],
      ),
    ),
  );
  const totals = sizes.map(({ rows: [row] }) => ({
    total: Number(row?.total),
    passing: Number(row?.passing),
    wal: Number(row?.wal),
  }));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const passing = sum(totals.map((each) => each.passing));
  const manager = await broker.jetstreamManager({ checkAPI: false });
  const streams = await manager.streams.list().next();
  return {
    passing,
    kept: sum(totals.map(({ total }) => total)) - passing,
    // One server holds all databases.
    wal: Math.max(...totals.map(({ wal }) => wal)),
    broker: sum(streams.map(({ state }) => state.bytes)),
    logs: sum(services.map(({ process }) => process.outputBytes())),
  };
};

/** Returns true once all facts are published, and handled by the durable consumers of services that run. */
const areFactsHandled = async ({ databases, broker }: Measured): Promise<boolean> => {
  const waiting = await Promise.all(
    databases.map((database) =>
      database
        .query<{ count: string }>('SELECT count(*) FROM outbox WHERE published_at IS NULL')
        .then(({ rows }) => Number(rows[0]?.count))
        // The dispatcher publishes no facts.
        .catch(() => 0),
    ),
  );
  const usage = durables.find(({ name }) => name === 'billing_usage');
  if (usage === undefined) throw new Error('no consumer settles usage');
  const manager = await broker.jetstreamManager({ checkAPI: false });
  const { num_pending, num_ack_pending } = await manager.consumers.info(usage.stream, usage.name);
  return waiting.every((count) => count === 0) && num_pending + num_ack_pending === 0;
};

const inParallel = async (count: number, work: (caller: number) => Promise<void>): Promise<void> => {
  let next = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      while (next < count) {
        next += 1;
        await work(caller);
      }
    }),
  );
};

const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
  const endsAt = performance.now() + SETTLED_WITHIN_MS;
  while (!(await isTrue())) {
    if (performance.now() > endsAt) throw new Error('the work does not end');
    await sleep(POLL_MS);
  }
};
