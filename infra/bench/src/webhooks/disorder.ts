import { setTimeout as sleep } from 'node:timers/promises';
import { connectToBroker } from '@svc/messaging/broker';
import type { JetStreamClient } from 'nats';
import { printTable } from '../harness/report.ts';
import type { RunningService } from '../harness/stack.ts';
import { createRandom } from '../harness/statistics.ts';
import { type Arrivals, connectionCreated, startWorld, toMessage, type World } from './dispatcher-under-test.ts';

/** Size of a run and its disturbances. */
export interface DisorderSize {
  readonly workers: number;
  readonly apps: number;
  readonly events: number;
  /** Events per second. */
  readonly rate: number;
  /** Workers killed (and replaced), and workers paused for longer than their lease. */
  readonly kills: number;
  readonly pauses: number;
  /** Restarts of PostgreSQL and NATS, alternating graceful and crash. */
  readonly restarts: number;
  readonly seed: number;
}

/** Result of a run. All but `late` and `attempts` must be zero. */
export interface DisorderReport {
  /** Events that no receiver has accepted. */
  readonly lost: number;
  /** Missing numbers in the apps' sequences in the database. */
  readonly gaps: number;
  /** First deliveries that arrived before a lower sequence. */
  readonly disordered: number;
  /** Events not marked as delivered. */
  readonly undelivered: number;
  readonly deadLetters: number;
  /** Requests for events that the receiver had already accepted. */
  readonly late: number;
  readonly attempts: number;
  readonly seconds: number;
  readonly kills: number;
  readonly pauses: number;
  readonly restarts: number;
}

/** Longer than a lease of 15 s: the paused worker resumes with lanes that others have taken over. */
const PAUSE_MS = 17_000;
const SETTLE_TIMEOUT_MS = 300_000;
const POLL_MS = 250;
const PUBLISH_TIMEOUT_MS = 5_000;
const RETRY_MS = 200;
const TICK_MS = 10;
const ARRIVALS_MAX = 10_000_000;

/**
 * Publishes events over NATS while workers are killed and paused, servers restart, and receivers fail at random, by a
 * seed. Waits for all deliveries and counts violations.
 */
export const runDisorder = async (size: DisorderSize): Promise<DisorderReport> => {
  const env = { WEBHOOK_BACKOFF_BASE_MS: '20' };
  const world = await startWorld({ env, seed: size.seed, flags: { checkpoint_timeout: '30s' } });
  try {
    const clientIds = await world.addApps(size.apps, '/flaky');
    const workers = [world.dispatcher];
    while (workers.length < size.workers) workers.push(await world.dispatcher.replica());
    const watching = world.receiver.message();
    world.receiver.send({ expect: ARRIVALS_MAX });
    await watching;
    const startedAt = performance.now();
    const telling = tellFacts(world, clientIds, size);
    const done = await disturb(world, workers, { size, isOver: telling.isOver });
    await telling.finished;
    await settled(world, size.events);
    const seconds = (performance.now() - startedAt) / 1000;
    const told = world.receiver.message();
    world.receiver.send({ tell: true });
    // The receiver sends no other message.
    const { arrivals } = (await told) as { arrivals: Arrivals };
    return { ...(await judge(world, arrivals, size.events)), ...done, seconds };
  } finally {
    await world.stop();
  }
};

/** Like auth's relay: retries until the broker has the event, always under the same id. */
const tellFacts = (world: World, clientIds: readonly string[], { events, rate }: DisorderSize) => {
  let isOver = false;
  const finished = (async () => {
    const nats = await connectToBroker({ url: world.stack.natsUrlOf('operator'), name: 'operator' });
    const jetstream = nats.jetstream({ timeout: PUBLISH_TIMEOUT_MS });
    const startedAt = performance.now();
    const open: Promise<void>[] = [];
    while (open.length < events) {
      const due = Math.min(events, Math.ceil(((performance.now() - startedAt) / 1000) * rate));
      while (open.length < due) open.push(tell(jetstream, clientIds[open.length % clientIds.length] ?? ''));
      await sleep(TICK_MS);
    }
    await Promise.all(open);
    isOver = true;
    await nats.close();
  })();
  return { finished, isOver: () => isOver };
};

const tell = async (jetstream: JetStreamClient, clientId: string): Promise<void> => {
  const fact = toMessage(connectionCreated(clientId));
  for (;;) {
    try {
      await jetstream.publish(fact.subject, JSON.stringify(fact), { msgID: fact.id, timeout: PUBLISH_TIMEOUT_MS });
      return;
    } catch {
      // The broker is down; it deduplicates the id if it already has the event.
      await sleep(RETRY_MS);
    }
  }
};

type Trouble = 'kill' | 'pause' | 'postgres' | 'nats';

/** Spreads the disturbances over the run in a seeded order. */
const disturb = async (
  world: World,
  workers: RunningService[],
  { size, isOver }: { size: DisorderSize; isOver: () => boolean },
): Promise<Pick<DisorderReport, 'kills' | 'pauses' | 'restarts'>> => {
  const random = createRandom(size.seed);
  const done = { kills: 0, pauses: 0, restarts: 0 };
  const troubles: Trouble[] = [
    ...Array.from({ length: size.kills }, (): Trouble => 'kill'),
    ...Array.from({ length: size.pauses }, (): Trouble => 'pause'),
    ...Array.from({ length: size.restarts }, (_, index): Trouble => (index % 2 === 0 ? 'postgres' : 'nats')),
  ];
  const spanMs = (size.events / size.rate) * 1000;
  const paused: Promise<void>[] = [];
  const schedule = troubles.map((trouble) => ({ trouble, atMs: random() * spanMs })).sort((a, b) => a.atMs - b.atMs);
  const startedAt = performance.now();
  for (const { trouble, atMs } of schedule) {
    await sleep(Math.max(0, atMs - (performance.now() - startedAt)));
    const place = Math.floor(random() * workers.length);
    const worker = workers[place];
    if (trouble === 'kill' && worker !== undefined) {
      process.kill(worker.process.pid, 'SIGKILL');
      workers[place] = await world.dispatcher.replica();
      done.kills += 1;
    } else if (trouble === 'pause' && worker !== undefined) {
      process.kill(worker.process.pid, 'SIGSTOP');
      paused.push(sleep(PAUSE_MS).then(() => resume(worker.process.pid)));
      done.pauses += 1;
    } else {
      const server = trouble === 'nats' ? world.stack.nats : world.stack.postgres;
      await server.restart(random() < 0.5 ? 'stop' : 'kill');
      done.restarts += 1;
    }
  }
  await Promise.all(paused);
  while (!isOver()) await sleep(POLL_MS);
  return done;
};

/** It may have been killed while paused. */
const resume = (pid: number): void => {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It has ended.
  }
};

const settled = async ({ database }: World, events: number): Promise<void> => {
  const endsAt = performance.now() + SETTLE_TIMEOUT_MS;
  const isSettled = async () => {
    const { rows } = await database.query<{ stored: number; open: number }>(
      `SELECT (SELECT count(*)::int FROM events) AS stored,
         (SELECT count(*)::int FROM lanes WHERE done_sequence < last_sequence) AS open`,
    );
    return rows[0]?.open === 0 && rows[0].stored >= events;
  };
  while (!(await isSettled().catch(() => false)) && performance.now() < endsAt) await sleep(POLL_MS);
};

const judge = async ({ database }: World, arrivals: Arrivals, events: number) => {
  const { rows } = await database.query<{ event_id: string; client_id: string; sequence: string; status: string }>(
    'SELECT event_id, owner_id AS client_id, sequence::text, status FROM events',
  );
  const { rows: letters } = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM dead_letters');
  const { rows: lanes } = await database.query<{ gaps: number }>(
    `SELECT coalesce(sum(last_sequence - stored), 0)::int AS gaps
     FROM (SELECT l.last_sequence, count(e.*) AS stored FROM lanes l LEFT JOIN events e USING (owner_id) GROUP BY l.owner_id) AS s`,
  );
  const places = new Map(rows.map((row) => [row.event_id, { app: row.client_id, sequence: Number(row.sequence) }]));
  const seen = new Set<string>();
  const taken = new Set<string>();
  const newest = new Map<string, number>();
  let disordered = 0;
  let late = 0;
  for (const [id, , status] of arrivals) {
    const place = places.get(id);
    if (taken.has(id)) late += 1;
    if (status >= 200 && status < 300) taken.add(id);
    if (place === undefined || seen.has(id)) continue;
    seen.add(id);
    if (place.sequence !== (newest.get(place.app) ?? 0) + 1) disordered += 1;
    newest.set(place.app, place.sequence);
  }
  return {
    lost: events - [...taken].filter((id) => places.has(id)).length,
    gaps: lanes[0]?.gaps ?? 0,
    disordered,
    undelivered: rows.filter(({ status }) => status !== 'delivered').length,
    deadLetters: letters[0]?.count ?? 0,
    late,
    attempts: arrivals.length,
  };
};

/** Runs the dispatcher under crashes, pauses and restarts at full size. Throws if an event is lost or out of order. */
export const measureDisorder = async (): Promise<void> => {
  const report = await runDisorder({
    workers: 4,
    apps: Number(process.env['BENCH_APPS'] ?? 200),
    events: Number(process.env['BENCH_EVENTS'] ?? 20_000),
    rate: Number(process.env['BENCH_RATE'] ?? 120),
    kills: 12,
    pauses: 8,
    restarts: 6,
    seed: Number(process.env['BENCH_SEED'] ?? 1),
  });
  printTable(Object.keys(report), [Object.values(report)]);
  const { lost, gaps, disordered, undelivered, deadLetters } = report;
  if (lost + gaps + disordered + undelivered + deadLetters > 0)
    throw new Error('events were lost, out of order or undelivered');
};
