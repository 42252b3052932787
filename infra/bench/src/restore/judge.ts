import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { openClient } from '../harness/http.ts';
import { say } from '../harness/report.ts';
import type { Callers } from './drill-load.ts';
import type { DrillWorld } from './drill-world.ts';

const SETTLED_WITHIN_MS = 120_000;
const BILLING_MAIN = new URL('../../../../services/billing/src/main.ts', import.meta.url).pathname;

/** Breaches that a drill found. Each must be 0. */
export interface Faults {
  /** People with two active subscriptions at the payment provider. */
  readonly soldTwice: number;
  /** Active subscriptions of the payment provider that billing does not know. */
  readonly unknownPurchases: number;
  /** Totals that the ledger does not prove. */
  readonly ledgerDifference: number;
  /** Answered requests before the restored moment, or after the restore, that billing has not settled. */
  readonly lostUsage: number;
  /** Facts of the publishers' outboxes whose event the partner never got, or whose effect the dispatcher has not. */
  readonly lostEvents: number;
  /** Events that the partner got under two ids. */
  readonly renamedEvents: number;
}

/** A consequence that the guide names. */
export interface Accepted {
  /** Answered requests between the moment and the loss, and how many of them are kept as unadmitted usage. */
  readonly usageSinceTheMoment: number;
  readonly keptAsUnadmitted: number;
}

/** Moments between which the product lost its memory. */
export interface Loss {
  readonly moment: Date;
  readonly reopened: Date;
}

/** Compares ledger, payment provider, inference callers and the partner's log once everything has settled. */
export const judge = async (world: DrillWorld, callers: Callers, loss: Loss): Promise<Faults & Accepted> => {
  const databases = {
    billing: await open(world.billing.databaseUrl),
    dispatcher: await open(world.dispatcher.databaseUrl),
    auth: await open(world.teller.databaseUrl),
  };
  try {
    const usage = await eventually(() => judgeUsage(databases.billing, callers, loss));
    const events = await eventually(() => judgeEvents(world, databases));
    return { ...(await judgeSales(world)), ledgerDifference: await proveLedger(world), ...usage, ...events };
  } finally {
    await Promise.all(Object.values(databases).map((database) => database.end()));
  }
};

const open = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
};

/** Repeats a comparison until nothing is missing, for a time. */
const eventually = async <T extends { readonly missing: number }>(
  compare: () => Promise<T>,
): Promise<Omit<T, 'missing'>> => {
  const endsAt = performance.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { missing, ...found } = await compare();
    if (missing === 0 || performance.now() > endsAt) return found;
    await sleep(500);
  }
};

const judgeUsage = async (billing: pg.Client, { answered }: Callers, { moment, reopened }: Loss) => {
  const settled = await idsOf(
    billing,
    `SELECT request_id AS id FROM reservations WHERE state IN ('settled', 'uncertain')
     UNION ALL SELECT request_id FROM key_requests WHERE state = 'settled'
     UNION ALL SELECT request_id FROM uncertain_key_requests`,
  );
  const unadmitted = await idsOf(billing, 'SELECT request_id AS id FROM unadmitted_usage');
  const isBetween = (at: number): boolean => at > moment.getTime() && at < reopened.getTime();
  const entries = [...answered];
  const between = entries.filter(([, at]) => isBetween(at)).map(([id]) => id);
  const lost = entries.filter(([id, at]) => !isBetween(at) && !settled.has(id) && !unadmitted.has(id));
  const kept = between.filter((id) => settled.has(id) || unadmitted.has(id));
  const found = { lostUsage: lost.length, usageSinceTheMoment: between.length, keptAsUnadmitted: kept.length };
  return { ...found, missing: lost.length };
};

const judgeEvents = async (
  { partner, clientId, buyers, billing }: DrillWorld,
  databases: Record<'auth' | 'dispatcher', pg.Client>,
) => {
  const connected = await idsOf(databases.auth, "SELECT payload->>'svc_user_id' AS id FROM outbox");
  const projected = await idsOf(databases.dispatcher, 'SELECT svc_user_id AS id FROM connections');
  const seen = new Set(
    partner.log.filter(({ event }) => event === 'integration.connected').map((each) => each.user.svc_user_id),
  );
  const lostConnections = [...connected].filter((id) => !seen.has(id) || !projected.has(id));
  const client = openClient(billing.url, 4);
  const lastTold = new Map<string, string | undefined>();
  for (const { event, user, data } of partner.log) {
    if (event.startsWith('subscription.')) lastTold.set(user.svc_user_id, data.status);
  }
  const states = await Promise.all(
    buyers.map(async ({ userId, token }) => ({ userId, status: await statusOf(client, token) })),
  );
  await client.close();
  const lostStates = states.filter(({ userId, status }) => status !== undefined && lastTold.get(userId) !== status);
  const lostEvents = lostConnections.length + lostStates.length;
  const byConnection = Map.groupBy(
    partner.log.filter(({ event }) => event === 'integration.connected'),
    ({ user }) => `${clientId} ${user.svc_user_id}`,
  );
  const renamed = [...byConnection.values()].filter((events) => new Set(events.map((each) => each.event_id)).size > 1);
  return { lostEvents, renamedEvents: renamed.length, missing: lostEvents };
};

const currentSchema = z.object({ subscription: z.object({ status: z.string() }).nullable() });

const statusOf = async (client: ReturnType<typeof openClient>, token: string): Promise<string | undefined> => {
  const { text } = await client.expect(200, { path: '/v1/subscriptions', token });
  return currentSchema.parse(JSON.parse(text)).subscription?.status;
};

const subscriptionSchema = z.looseObject({ status: z.string(), metadata: z.looseObject({ svc_user_id: z.string() }) });

const judgeSales = async ({ stripe, billing, buyers }: DrillWorld) => {
  const active = stripe.list('subscription').map((each) => subscriptionSchema.parse(each));
  const owners = active.filter(({ status }) => status === 'active').map(({ metadata }) => metadata.svc_user_id);
  const client = openClient(billing.url, 4);
  const paid = buyers.filter(({ userId }) => owners.includes(userId));
  const states = await Promise.all(paid.map(({ token }) => statusOf(client, token)));
  await client.close();
  return {
    soldTwice: owners.length - new Set(owners).size,
    unknownPurchases: states.filter((status) => status !== 'active').length,
  };
};

/** Runs billing's own proof of every total, as the guide says. */
const proveLedger = async ({ stack, billing }: DrillWorld): Promise<number> => {
  const proof = await stack.startScript(
    BILLING_MAIN,
    { DATABASE_URL: billing.databaseUrl },
    { args: ['check-balances'] },
  );
  return await proof.succeed().then(
    () => 0,
    (error: Error) => {
      say(error.message);
      return 1;
    },
  );
};

const idsOf = async (database: pg.Client, sql: string): Promise<Set<string>> =>
  new Set((await database.query<{ id: string }>(sql)).rows.map(({ id }) => id));

/** Returns the number of all faults. */
export const sumOf = (faults: Faults): number =>
  faults.soldTwice +
  faults.unknownPurchases +
  faults.ledgerDifference +
  faults.lostUsage +
  faults.lostEvents +
  faults.renamedEvents;
