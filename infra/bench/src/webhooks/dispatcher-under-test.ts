import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionAggregate, events, newId } from '@svc/contracts';
import { createTestAuthority, testTokens } from '@svc/testing';
import pg from 'pg';
import { openClient } from '../harness/http.ts';
import type { NodeProcess } from '../harness/node-process.ts';
import { startOwnerStandIn } from '../harness/owner-stand-in.ts';
import { type RunningService, type Stack, startStack } from '../harness/stack.ts';

const ARRIVALS_TIMEOUT_MS = 120_000;
const TELLER = new URL('../fact-teller/main.ts', import.meta.url).pathname;
const RECEIVER = new URL('../receiver/main.ts', import.meta.url).pathname;

/** The dispatcher with its database and broker, and a receiver over TLS. */
export interface World {
  readonly stack: Stack;
  readonly receiver: NodeProcess;
  /** The receiver's address; its paths select the response. */
  readonly origin: string;
  readonly certificateAuthority: string;
  readonly dispatcher: RunningService;
  readonly database: pg.Pool;
  /** Sets whether users have a subscription, in which case a connection causes two events. */
  readonly subscribe: (isSubscribed: boolean) => void;
  /** Configures new apps with a path of the receiver and returns their client ids. */
  readonly addApps: (count: number, path: string) => Promise<string[]>;
  readonly stop: () => Promise<void>;
}

export interface WorldChoices {
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly seed?: number;
}

/** Starts all parts, each in a separate process. */
export const startWorld = async (choices: WorldChoices = {}): Promise<World> => {
  const stack = await startStack(choices.flags);
  const authority = await createTestAuthority();
  const tokens = await testTokens();
  const userId = newId('usr');
  const owner = await startOwnerStandIn(userId);
  const { key, cert } = await authority.issue({ names: ['localhost'] });
  const receiver = await stack.startScript(RECEIVER, { KEY: key, CERT: cert, SEED: String(choices.seed ?? 1) });
  // Its first message is the port.
  const { port } = (await receiver.message()) as { port: number };
  const origin = `https://localhost:${port}`;
  const dispatcher = await stack.start('webhook-dispatcher', {
    PUBLIC_BASE_URL: tokens.publicBaseUrl,
    JWKS_URL: tokens.jwksUrl,
    AUTH_INTERNAL_URL: owner.url,
    BILLING_INTERNAL_URL: owner.url,
    WEBHOOK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_EXTRA_CA_FILE: authority.caFile,
    WEBHOOK_ALLOW_TARGETS: `localhost:${port}`,
    ...choices.env,
  });
  const token = await tokens.consoleSession({ userId, accountType: 'business' });
  const database = new pg.Pool({ connectionString: dispatcher.databaseUrl, max: 1 });
  // A restart of the server ends idle connections; the next query opens a new one.
  database.on('error', () => undefined);
  return {
    stack,
    receiver,
    origin,
    dispatcher,
    database,
    subscribe: owner.subscribe,
    certificateAuthority: readFileSync(authority.caFile, 'utf8'),
    addApps: (count, path) => configureApps(dispatcher.url, token, { count, url: `${origin}${path}` }),
    stop: async () => {
      await database.end().catch(() => undefined);
      owner.stop();
      await tokens.stop();
      authority.remove();
      await stack.stop();
    },
  };
};

const CONFIGURING_CONNECTIONS = 8;

const configureApps = async (
  dispatcherUrl: string,
  token: string,
  { count, url }: { count: number; url: string },
): Promise<string[]> => {
  const client = openClient(dispatcherUrl, CONFIGURING_CONNECTIONS);
  const clientIds = Array.from({ length: count }, () => newId('app'));
  const left = [...clientIds];
  await Promise.all(
    Array.from({ length: CONFIGURING_CONNECTIONS }, async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        await client.expect(200, { method: 'PUT', path: `/v1/integrations/apps/${id}/webhook`, token, json: { url } });
      }
    }),
  );
  await client.close();
  return clientIds;
};

/** Body of the events of `storeBacklog`, with placeholders for event id, client id and sequence. */
export const BODY = JSON.stringify({
  api_version: '2026-10-01',
  event_id: '%1$s',
  event: 'integration.test',
  integration_id: '%2$s',
  sequence: '%3$s',
  created: 1_790_000_000,
  user: { svc_user_id: newId('usr') },
  data: { message: 'From a benchmark.' },
});

/** Stores events for each app at once like the dispatcher, which locks lanes in the order of the apps. */
export const storeBacklog = async (database: pg.Pool, clientIds: readonly string[], perApp: number): Promise<void> => {
  await database.query(
    `WITH locked AS (
       SELECT owner_id FROM lanes WHERE owner_id = ANY($3) ORDER BY owner_id FOR NO KEY UPDATE
     ), grown AS (
       UPDATE lanes SET last_sequence = last_sequence + $1::int, due_at = coalesce(due_at, now())
       FROM locked WHERE lanes.owner_id = locked.owner_id
       RETURNING lanes.owner_id, generation, last_sequence - $1::int AS before
     ), placed AS (
       SELECT owner_id, generation, before + n AS sequence,
         'evt_' || substr(owner_id, 11) || lpad((before + n)::text, 6, '0') AS event_id
       FROM grown, generate_series(1, $1::int) AS n
     )
     INSERT INTO events (owner_id, sequence, event_id, generation, event, body, created)
     SELECT owner_id, sequence, event_id, generation, 'integration.test',
       convert_to(format($2, event_id, owner_id, sequence), 'UTF8'), extract(epoch FROM now())::bigint
     FROM placed`,
    [perApp, BODY, clientIds],
  );
};

/** Arrivals with their time and response status. */
export type Arrivals = readonly (readonly [id: string, at: number, status: number])[];

/** Returns the receiver's arrivals in order, once the given number has come. */
export const arrivalsOf = async (
  receiver: NodeProcess,
  count: number,
  cause: () => Promise<void>,
): Promise<Arrivals> => {
  const watching = receiver.message();
  receiver.send({ expect: count });
  await watching;
  const answer = receiver.message();
  await cause();
  const patience = new AbortController();
  const tooLate = sleep(ARRIVALS_TIMEOUT_MS, undefined, { signal: patience.signal }).then(() => {
    throw new Error(`${count} deliveries did not arrive in time`);
  });
  // The receiver sends no other message now.
  const { arrivals } = (await Promise.race([answer, tooLate])) as { arrivals: Arrivals };
  patience.abort();
  await tooLate.catch(() => undefined);
  return arrivals;
};

/** Publisher of auth's events: an outbox and the relay. */
export interface FactTeller {
  readonly pid: number;
  readonly databaseUrl: string;
  /** The part of auth's internal port that a restore asks. */
  readonly internalUrl: string;
  /** Commits events of new connections at this rate; resolves after the last one. */
  readonly connect: (order: {
    clientIds: readonly string[];
    count: number;
    rate: number;
  }) => Promise<readonly [string, string][]>;
  /** Commits, as fast as possible, the end of these users' connections to a suspended app. */
  readonly suspend: (clientId: string, userIds: readonly string[]) => void;
  readonly stop: () => Promise<void>;
}

/** Starts it in a separate process, on a new database or on that of an earlier one. */
export const startFactTeller = async (stack: Stack, knownUrl?: string): Promise<FactTeller> => {
  const databaseUrl = knownUrl ?? (await stack.database('auth'));
  const teller = await stack.startScript(TELLER, { DATABASE_URL: databaseUrl, NATS_URL: stack.natsUrlOf('auth') });
  // Its first message, when it is ready.
  const { internalUrl } = (await teller.message()) as { internalUrl: string };
  return {
    pid: teller.pid,
    databaseUrl,
    internalUrl,
    connect: async (order) => {
      const answer = teller.message();
      teller.send(order);
      // It sends no other message.
      const { told } = (await answer) as { told: [string, string][] };
      return told;
    },
    suspend: (suspended, userIds) => teller.send({ suspended, userIds }),
    stop: teller.stop,
  };
};

/** Creates the event of a new user's connection to an app. */
export const connectionCreated = (clientId: string) => {
  const userId = newId('usr');
  const now = new Date().toISOString();
  return {
    subject: events.connectionCreated.subject,
    aggregate: connectionAggregate(userId, clientId),
    version: 1,
    data: { svc_user_id: userId, client_id: clientId, grant_id: newId('grt'), scope: 'inference', connected_at: now },
  };
};

/** Creates the event that ends the connections of users to a suspended app. */
export const appDisconnected = (clientId: string, userIds: readonly string[]) => ({
  subject: events.appDisconnected.subject,
  aggregate: `disconnection:${randomUUID()}`,
  version: 1,
  data: {
    client_id: clientId,
    revoked_at: new Date().toISOString(),
    connections: userIds.map((userId) => ({ svc_user_id: userId, version: 2 })),
  },
});

/** Creates the message that auth's relay sends for an event. */
export const toMessage = <Fact extends object>(fact: Fact) => ({
  id: randomUUID(),
  occurred_at: new Date().toISOString(),
  ...fact,
});
