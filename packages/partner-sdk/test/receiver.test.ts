import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { waitFor } from '@svc/testing';
import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createAccountWebhookReceiver,
  createMemoryWebhookStore,
  createPostgresWebhookStore,
  createWebhookReceiver,
  type DeliveryContext,
  type PostgresWebhookStore,
  type SequenceGap,
  type WebhookEvent,
  type WebhookReceiver,
  webhookTablesSql,
} from '../src/server.ts';
import { CLIENT_ID, deliveryOf, ended, SECRET, snapshot, testEvent } from './support/deliveries.ts';

let database: TestDatabase;
let store: PostgresWebhookStore<Knex.Transaction>;
let gaps: SequenceGap[];

beforeAll(async () => {
  database = await testDatabase();
  await database.knex.raw(webhookTablesSql);
  // Repeating it changes nothing.
  await database.knex.raw(webhookTablesSql);
  await database.knex.raw('CREATE TABLE work (event_id text NOT NULL, is_late boolean NOT NULL)');
  store = createPostgresWebhookStore(database.knex);
});
afterAll(() => database.drop());
beforeEach(async () => {
  gaps = [];
  await database.knex.raw('TRUNCATE work, svc_webhook_events, svc_webhook_integrations, svc_webhook_snapshots');
});

type Handle = (event: WebhookEvent, trx: Knex.Transaction, context: DeliveryContext) => Promise<void>;

const record: Handle = async (event, trx, { isLate }) => {
  await trx('work').insert({ event_id: event.event_id, is_late: isLate });
};

const receiverOf = (handle: Handle): WebhookReceiver =>
  createWebhookReceiver({ secret: SECRET, clientId: CLIENT_ID, store, handle, onGap: (gap) => void gaps.push(gap) });

const receive = async (receiver: WebhookReceiver, event: object): Promise<string> =>
  (await receiver.receive(deliveryOf(event))).outcome;

const works = async (): Promise<string[]> =>
  (await database.knex('work').orderBy('event_id')).map((row) => String(row.event_id));
const markers = async (): Promise<number> => Number((await database.knex('svc_webhook_events').count())[0]?.['count']);

describe('the events of an account', () => {
  test('are processed once and in the work of the handler, without snapshots that are stale', async () => {
    const accountId = 'usr_1';
    const changed = (sequence: number, revision: number) => ({
      api_version: '2026-10-01',
      event_id: `evt_${sequence}`,
      event: 'subscription.changed',
      account_id: accountId,
      sequence,
      created: 1_790_000_000,
      data: { status: 'active', plan: null, current_period_end: '2026-11-01T00:00:00.000Z', revision },
    });
    const receiver = createAccountWebhookReceiver({
      secret: SECRET,
      accountId,
      store,
      handle: async ({ event_id }, trx, { isLate }) => void (await trx('work').insert({ event_id, is_late: isLate })),
      onGap: (gap) => void gaps.push(gap),
    });
    const outcomes = [];
    for (const event of [
      changed(1, 1),
      changed(1, 1),
      changed(3, 3),
      changed(2, 2),
      { ...changed(4, 4), event: 'new.kind' },
    ]) {
      outcomes.push((await receiver.receive(deliveryOf(event))).outcome);
    }
    expect(outcomes).toEqual(['processed', 'duplicate', 'processed', 'stale', 'ignored']);
    expect(await works()).toEqual(['evt_1', 'evt_3']);
    expect(gaps).toEqual([{ integrationId: accountId, from: 2, to: 2 }]);
    const other = deliveryOf({ ...changed(5, 5), account_id: 'usr_2' });
    expect(await receiver.receive(other)).toMatchObject({ outcome: 'rejected', status: 403 });
  });
});

describe('once', () => {
  test('processes an event once and answers 2xx to its repetition', async () => {
    const receiver = receiverOf(record);
    expect(await receiver.receive(deliveryOf(testEvent(1)))).toEqual({ outcome: 'processed', status: 204 });
    expect(await receiver.receive(deliveryOf(testEvent(1)))).toEqual({ outcome: 'duplicate', status: 204 });
    expect(await works()).toEqual(['evt_1']);
  });

  test('one of many workers processes an event that all get at once', async () => {
    let running = 0;
    let runningMax = 0;
    const slow: Handle = async (event, trx, context) => {
      running += 1;
      runningMax = Math.max(runningMax, running);
      await trx.raw('SELECT pg_sleep(0.02)');
      await record(event, trx, context);
      running -= 1;
    };
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => receiverOf(slow)).flatMap((receiver) =>
        [1, 2, 3].map((sequence) => receive(receiver, testEvent(sequence))),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'processed')).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(21);
    expect(await works()).toEqual(['evt_1', 'evt_2', 'evt_3']);
    expect(runningMax).toBe(1);
  });

  test('an error of the handler rolls back its work and the marker, so that the next delivery is processed', async () => {
    let attempts = 0;
    const failsOnce: Handle = async (event, trx, context) => {
      await record(event, trx, context);
      attempts += 1;
      if (attempts === 1) throw new Error('out of stock');
    };
    const receiver = receiverOf(failsOnce);
    const failed = await receiver.receive(deliveryOf(snapshot(1, 1)));
    expect(failed).toMatchObject({ outcome: 'failed', status: 500, error: new Error('out of stock') });
    expect([await works(), await markers()]).toEqual([[], 0]);
    expect(await receive(receiver, snapshot(1, 1))).toBe('processed');
    expect(await works()).toEqual(['evt_1']);
  });

  test('a second delivery waits for the first and processes the event if that fails', async () => {
    let isFirst = true;
    const firstFails: Handle = async (event, trx, context) => {
      const fails = isFirst;
      isFirst = false;
      await trx.raw('SELECT pg_sleep(0.05)');
      if (fails) throw new Error('first');
      await record(event, trx, context);
    };
    const receiver = receiverOf(firstFails);
    const outcomes = await Promise.all([receive(receiver, testEvent(1)), receive(receiver, testEvent(1))]);
    expect(outcomes.sort()).toEqual(['failed', 'processed']);
    expect(await works()).toEqual(['evt_1']);
  });

  test('a process that dies between its work and the commit leaves no trace', async () => {
    const child = fork(new URL('support/receiver-that-dies.ts', import.meta.url), [], {
      execArgv: [],
      env: { ...process.env, RECEIVER_DATABASE_URL: database.url },
    });
    await killWhenWorking(child);
    await waitFor(async () => (await others()) === 0);
    expect([await works(), await markers()]).toEqual([[], 0]);
    expect(await receive(receiverOf(record), testEvent(1))).toBe('processed');
    expect(await works()).toEqual(['evt_1']);
  });

  const killWhenWorking = async (child: ChildProcess): Promise<void> => {
    const exit = once(child, 'exit');
    await once(child, 'message');
    child.kill('SIGKILL');
    await exit;
  };

  const others = async (): Promise<number> => {
    const { rows } = await database.knex.raw(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'dies'",
    );
    return rows[0].n;
  };

  test('a failing store answers 500', async () => {
    const broken = createPostgresWebhookStore({
      transaction: async () => {
        throw new Error('no database');
      },
    });
    const receiver = createWebhookReceiver({
      secret: SECRET,
      clientId: CLIENT_ID,
      store: broken,
      handle: async () => {},
    });
    expect(await receiver.receive(deliveryOf(testEvent(1)))).toMatchObject({ outcome: 'failed', status: 500 });
  });
});

describe('order', () => {
  test('discards a snapshot with an older revision, or with the same revision and an earlier sequence', async () => {
    const receiver = receiverOf(record);
    expect(await receive(receiver, snapshot(5, 3))).toBe('processed');
    expect(await receive(receiver, snapshot(4, 2))).toBe('stale');
    expect(await receive(receiver, snapshot(3, 3))).toBe('stale');
    expect(await receive(receiver, ended(6, 2))).toBe('stale');
    // Sent again at a later connection.
    expect(await receive(receiver, snapshot(7, 3))).toBe('processed');
    expect(await receive(receiver, ended(8, 4))).toBe('processed');
    expect(await receive(receiver, snapshot(9, 3))).toBe('stale');
    expect(await works()).toEqual(['evt_5', 'evt_7', 'evt_8']);
    // The repetition of a stale snapshot is a duplicate.
    expect(await receive(receiver, snapshot(9, 3))).toBe('duplicate');
  });

  test("does not compare one user's snapshots with another's", async () => {
    const receiver = receiverOf(record);
    expect(await receive(receiver, snapshot(5, 9))).toBe('processed');
    expect(await receive(receiver, snapshot(4, 1, 'usr_other'))).toBe('processed');
  });

  test('passes late events of other kinds on, marked as late', async () => {
    const receiver = receiverOf(record);
    for (const sequence of [2, 1, 3]) expect(await receive(receiver, testEvent(sequence))).toBe('processed');
    const rows = await database.knex('work').orderBy('event_id').pluck('is_late');
    expect(rows).toEqual([true, false, false]);
  });

  test('reports each gap once, and none before the first event', async () => {
    const receiver = receiverOf(record);
    for (const sequence of [7, 8, 11, 10, 11, 12, 14]) await receive(receiver, testEvent(sequence));
    expect(gaps).toEqual([
      { integrationId: CLIENT_ID, from: 9, to: 10 },
      { integrationId: CLIENT_ID, from: 13, to: 13 },
    ]);
  });

  test('answers 2xx to unknown kinds, as a rejection would block all later events', async () => {
    const receiver = receiverOf(record);
    const unknown = { ...testEvent(1), event: 'subscription.paused', data: { since: 1 } };
    expect(await receiver.receive(deliveryOf(unknown))).toEqual({ outcome: 'ignored', status: 204 });
    expect(await receive(receiver, testEvent(2))).toBe('processed');
    expect([await works(), gaps]).toEqual([['evt_2'], []]);
  });
});

describe('refusals', () => {
  test('do not touch the database', async () => {
    const receiver = receiverOf(record);
    const { rawBody, headers } = deliveryOf(testEvent(1));
    expect(await receiver.receive({ rawBody: `${rawBody} `, headers })).toMatchObject({
      outcome: 'rejected',
      status: 401,
      error: { reason: 'signature_mismatch' },
    });
    const other = deliveryOf({ ...testEvent(1), integration_id: 'app_other' });
    expect(await receiver.receive(other)).toMatchObject({ status: 403, error: { reason: 'integration_mismatch' } });
    expect([await works(), await markers()]).toEqual([[], 0]);
  });
});

describe('markers', () => {
  test('are deleted by age', async () => {
    const receiver = receiverOf(record);
    await receive(receiver, testEvent(1));
    await database.knex('svc_webhook_events').update({ processed_at: new Date('2026-01-01T00:00:00Z') });
    await receive(receiver, testEvent(2));
    expect(await store.deleteMarkersBefore(new Date('2026-02-01T00:00:00Z'))).toBe(1);
    expect(await markers()).toBe(1);
  });
});

describe('the memory store', () => {
  test('gives the same guarantees within one process', async () => {
    const done: string[] = [];
    let fails = true;
    const receiver = createWebhookReceiver({
      secret: SECRET,
      clientId: CLIENT_ID,
      store: createMemoryWebhookStore(),
      handle: async (event) => {
        await new Promise(setImmediate);
        if (fails) throw new Error('once');
        done.push(event.event_id);
      },
      onGap: (gap) => void gaps.push(gap),
    });
    expect(await receive(receiver, snapshot(1, 5))).toBe('failed');
    fails = false;
    const outcomes = await Promise.all([1, 1, 1].map((sequence) => receive(receiver, snapshot(sequence, 5))));
    expect(outcomes.sort()).toEqual(['duplicate', 'duplicate', 'processed']);
    expect(await receive(receiver, snapshot(4, 4))).toBe('stale');
    expect([done, gaps]).toEqual([['evt_1'], [{ integrationId: CLIENT_ID, from: 2, to: 3 }]]);
  });
});
