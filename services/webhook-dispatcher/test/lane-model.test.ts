import { newId } from '@svc/contracts';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { AppError } from '@svc/service-kit';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AttemptOutcome,
  beginGeneration,
  type Claim,
  type ClaimedLane,
  claimDueLanes,
  EVENT_STATUS,
  type LocalWorker,
  recordOutcomes,
  recoverEvent,
  releaseLanes,
  storeEvents,
} from '../src/events/index.ts';
import { MIGRATIONS } from './support/dispatcher.ts';

const ATTEMPTS_MAX = 8;
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase({ migrations: MIGRATIONS });
});
afterAll(async () => {
  await database?.drop();
});

interface ModelEvent {
  status: string;
  attempts: number;
  inRound: number;
  generation: number;
}

/** The expected state of a lane. */
interface Model {
  generation: number;
  events: ModelEvent[];
  done: number;
  /** The receiver has answered soon in this generation. */
  isPrompt: boolean;
  /** Holder of the lease; `expired` if another may claim the lane. */
  holder: { lane: ClaimedLane; expired: boolean } | undefined;
  /** Former holders, whose writes must change nothing. */
  losers: ClaimedLane[];
}

interface Run {
  readonly ownerId: string;
  readonly model: Model;
}

const deps = { clock: () => new Date('2026-11-20T12:00:00Z'), newId };
const draftFor = (ownerId: string) =>
  ({ ownerId, userId: newId('usr'), event: 'integration.test', data: { message: 'x' }, factId: null }) as const;
const isIdle = (model: Model) => model.holder === undefined && !isBlocked(model) && model.done === model.events.length;
const isBlocked = ({ events, done }: Model) => events[done]?.status === 'failed';
const outcome = (
  lane: ClaimedLane,
  result: AttemptOutcome['result'],
  given: { attempt: number; keepLane: boolean },
): AttemptOutcome => ({
  lane,
  result,
  retryDelayMs: 0,
  pace: 'prompt',
  at: new Date(),
  statusCode: result === 'delivered' ? 204 : 500,
  error: result === 'delivered' ? null : 'unexpected_status',
  durationMs: 1,
  ...given,
});

const operations: Record<string, (run: Run) => Promise<void>> = {
  store: (run) => store(run, { isWorking: false }),
  storeAndLease: (run) => store(run, { isWorking: true }),
  async storeAndRollBack({ ownerId, model }) {
    const local = localWorker();
    const storing = database.knex.transaction(async (trx) => {
      await storeEvents(trx, [draftFor(ownerId)], { ...deps, worker: local.worker });
      throw new Error('rolled back');
    });
    await expect(storing).rejects.toThrow('rolled back');
    await afterCommit();
    const isLeased = isIdle(model) && model.isPrompt;
    expect(local.seen).toEqual({ claim: undefined, released: isLeased ? 1 : 0, hints: 0 });
  },
  async claim({ model }) {
    const [claim] = await claimDueLanes(database.knex, { prompt: 10, unknown: 10, slow: 10 });
    const lane = claim?.lane;
    const isFree = model.holder === undefined || model.holder.expired;
    const isDue = isFree && !isBlocked(model) && model.done < model.events.length;
    expect(lane !== undefined).toBe(isDue);
    if (lane === undefined) return;
    expect([lane.sequence, lane.generation]).toEqual([model.done + 1, model.generation]);
    const event = model.events[model.done];
    expect(claim?.content).toMatchObject({ attempts: event?.attempts, attemptsInRound: event?.inRound });
    if (model.holder !== undefined) model.losers.push(model.holder.lane);
    model.holder = { lane, expired: false };
  },
  deliver: (run) => attempt(run, true, false),
  deliverAndGoOn: (run) => attempt(run, true, true),
  fail: (run) => attempt(run, false, false),
  async failEightTimes(run) {
    for (let count = 0; count < ATTEMPTS_MAX; count += 1) {
      await operations['claim']?.(run);
      await attempt(run, false, false);
    }
  },
  async expire({ ownerId, model }) {
    if (model.holder === undefined) return;
    const past = database.knex.raw("now() - interval '1 second'");
    await database.knex('lanes').where({ owner_id: ownerId }).update({ due_at: past, leased_until: past });
    model.holder.expired = true;
  },
  async release({ model }) {
    if (model.holder === undefined) return;
    await releaseLanes(database.knex, [model.holder.lane]);
    model.losers.push(model.holder.lane);
    model.holder = undefined;
  },
  async writeLate({ model }) {
    for (const lane of model.losers) {
      for (const result of ['delivered', 'retry', 'failed'] as const) {
        expect(await recordOutcomes(database.knex, [outcome(lane, result, { attempt: 99, keepLane: true })])).toEqual(
          [],
        );
      }
    }
  },
  async reconfigure({ ownerId, model }) {
    model.generation = await database.knex.transaction((trx) => beginGeneration(trx, ownerId));
    for (const event of model.events.slice(model.done)) event.status = 'cancelled';
    model.done = model.events.length;
    model.isPrompt = false;
    if (model.holder !== undefined) model.losers.push(model.holder.lane);
    model.holder = undefined;
  },
  retry: (run) => recover(run, 'retry'),
  skip: (run) => recover(run, 'skip'),
};

/** Stores an event. With a worker, an idle lane of a prompt receiver is leased at once, and any other idle lane causes a hint. */
const store = async ({ ownerId, model }: Run, { isWorking }: { isWorking: boolean }): Promise<void> => {
  const local = localWorker();
  const worker = isWorking ? local.worker : undefined;
  const wasIdle = isIdle(model);
  const [stored] = await database.knex.transaction((trx) => storeEvents(trx, [draftFor(ownerId)], { ...deps, worker }));
  await afterCommit();
  model.events.push({ status: 'queued', attempts: 0, inRound: 0, generation: model.generation });
  expect(stored?.sequence).toBe(model.events.length);
  const isLeased = isWorking && wasIdle && model.isPrompt;
  expect(local.seen).toMatchObject({ released: 0, hints: isWorking && wasIdle && !isLeased ? 1 : 0 });
  const { claim } = local.seen;
  expect(claim !== undefined).toBe(isLeased);
  if (claim === undefined) return;
  expect(claim.lane).toMatchObject({ sequence: model.events.length, generation: model.generation });
  const row = await database.knex('events').where({ event_id: stored?.eventId }).first();
  expect(claim.content).toMatchObject({ eventId: row.event_id, attempts: 0, attemptsInRound: 0, body: row.body });
  model.holder = { lane: claim.lane, expired: false };
};

const localWorker = (): {
  worker: LocalWorker;
  seen: { claim: Claim | undefined; released: number; hints: number };
} => {
  const seen: ReturnType<typeof localWorker>['seen'] = { claim: undefined, released: 0, hints: 0 };
  const reservation = {
    begin: ({ claim }: { claim: Claim }) => {
      seen.claim = claim;
    },
    release: () => {
      seen.released += 1;
    },
  };
  const hint = () => {
    seen.hints += 1;
  };
  return { worker: { reserve: () => reservation, hint }, seen };
};

/** Lets the callbacks of the commit run. */
const afterCommit = () => new Promise((resolve) => setImmediate(resolve));

const attempt = async ({ model }: Run, isDelivered: boolean, keepLane: boolean): Promise<void> => {
  const { holder } = model;
  const event = model.events[model.done];
  if (holder === undefined || event === undefined) return;
  event.attempts += 1;
  event.inRound += 1;
  const result = isDelivered ? 'delivered' : event.inRound < ATTEMPTS_MAX ? 'retry' : 'failed';
  event.status = result === 'retry' ? 'queued' : result;
  const written = outcome(holder.lane, result, { attempt: event.attempts, keepLane });
  const [recorded] = await recordOutcomes(database.knex, [written]);
  model.isPrompt = true;
  if (isDelivered) model.done += 1;
  const isKept = isDelivered && keepLane && model.done < model.events.length;
  expect(recorded).toMatchObject({ isKept });
  if (!isKept) model.losers.push(holder.lane);
  model.holder = isKept ? { lane: { ...holder.lane, sequence: holder.lane.sequence + 1 }, expired: false } : undefined;
};

const listEvents = (ownerId: string) =>
  database
    .knex('events AS e')
    .leftJoin('lanes AS l', 'l.owner_id', 'e.owner_id')
    .where({ 'e.owner_id': ownerId })
    .orderBy('e.sequence')
    .select('e.*', database.knex.raw(`${EVENT_STATUS} AS status`));

const recover = async ({ ownerId, model }: Run, action: 'retry' | 'skip'): Promise<void> => {
  const rows = await listEvents(ownerId);
  for (const row of rows.filter(({ status }) => status !== 'failed').slice(0, 3)) {
    await expect(recoverEvent(database.knex, { ownerId, eventId: row.event_id, action })).rejects.toThrow(AppError);
  }
  const failed = rows.find(({ status }) => status === 'failed');
  expect(failed !== undefined).toBe(isBlocked(model));
  const event = model.events[model.done];
  if (failed === undefined || event === undefined) return;
  const record = await recoverEvent(database.knex, { ownerId, eventId: failed.event_id, action });
  if (action === 'retry') Object.assign(event, { status: 'queued', inRound: 0 });
  else {
    event.status = 'skipped';
    model.done += 1;
  }
  expect(record.status).toBe(event.status);
};

const compare = async ({ ownerId, model }: Run): Promise<void> => {
  const rows = await listEvents(ownerId);
  expect(rows.map((row) => row.sequence)).toEqual(model.events.map((_, index) => index + 1));
  expect(
    rows.map((row) => ({
      status: row.status,
      attempts: row.attempts,
      inRound: row.attempts_in_round,
      generation: row.generation,
    })),
  ).toEqual(model.events);
  const lane = await database.knex('lanes').where({ owner_id: ownerId }).first();
  expect(lane).toMatchObject({
    generation: model.generation,
    last_sequence: model.events.length,
    done_sequence: model.done,
    blocked_sequence: isBlocked(model) ? model.done + 1 : null,
  });
  const attempts = await database
    .knex('delivery_attempts')
    .where({ owner_id: ownerId })
    .orderBy(['sequence', 'attempt']);
  const expected = model.events.flatMap(({ attempts: count }, index) =>
    Array.from({ length: count }, (_, number) => [index + 1, number + 1]),
  );
  expect(attempts.map((row) => [row.sequence, row.attempt])).toEqual(expected);
};

test('a lane matches its model after any sequence of operations', {
  timeout: 120_000,
}, async () => {
  const weighted = fc.oneof(
    { weight: 5, arbitrary: fc.constant('store') },
    { weight: 8, arbitrary: fc.constant('claim') },
    ...Object.keys(operations).map((name) => ({ weight: 2, arbitrary: fc.constant(name) })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(weighted, { minLength: 10, maxLength: 60 }), async (names) => {
      await database.knex.raw('TRUNCATE lanes, events, delivery_attempts, lane_alarms');
      const ownerId = newId('app');
      const generation = await database.knex.transaction((trx) => beginGeneration(trx, ownerId));
      const run: Run = {
        ownerId,
        model: { generation, events: [], done: 0, isPrompt: false, holder: undefined, losers: [] },
      };
      for (const name of names) {
        await operations[name]?.(run);
        await compare(run);
      }
    }),
    { numRuns: 60, seed: 20_261_120 },
  );
});
