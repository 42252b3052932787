import type { ServerResponse } from 'node:http';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { waitFor } from '@svc/testing';
import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createMemoryWebhookStore,
  createPostgresWebhookStore,
  createWebhookReceiver,
  type KnexLike,
  keepCaughtUp,
  type SequenceGap,
  type WebhookEvent,
  WebhookEventsError,
  WebhookEventsLostError,
  type WebhookReceiver,
  type WebhookReceiverOptions,
  webhookTablesSql,
} from '../src/server.ts';
import { CLIENT_ID, deliveryOf, SECRET, snapshot, testEvent } from './support/deliveries.ts';
import { CLIENT_SECRET, type StandInEvents, startStandInEvents } from './support/stand-in-events.ts';

let service: StandInEvents;
let handled: number[];
let gaps: SequenceGap[];

beforeEach(async () => {
  service = await startStandInEvents();
  handled = [];
  gaps = [];
  return () => service.stop();
});

/** A receiver whose handler notes sequences. The memory store shows committed work only. */
const receiverWith = (more: Partial<WebhookReceiverOptions<undefined>> = {}): WebhookReceiver =>
  createWebhookReceiver({
    secret: SECRET,
    clientId: CLIENT_ID,
    store: createMemoryWebhookStore(),
    events: { baseUrl: service.url, clientSecret: CLIENT_SECRET },
    handle: async ({ sequence }) => void handled.push(sequence),
    ...more,
  });

const addEvents = (from: number, to: number): void => {
  for (let sequence = from; sequence <= to; sequence += 1) service.add(testEvent(sequence));
};

const outcomeOf = async (receiver: WebhookReceiver, event: WebhookEvent): Promise<string> =>
  (await receiver.receive(deliveryOf(event))).outcome;

describe('1,000 events, a receiver that loses 5 % of its commits, and an outage', () => {
  const EVENTS = 1_000;
  const OUTAGE = { from: 300, to: 750 };
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase();
    await database.knex.raw(webhookTablesSql);
    await database.knex.raw('CREATE TABLE work (id bigserial PRIMARY KEY, sequence bigint NOT NULL)');
  });
  afterAll(() => database.drop());

  /** Numbers in [0, 1) from a seed (mulberry32). */
  const seededRandom = (seed: number) => {
    let state = seed;
    return (): number => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  };

  const REFUSED = new Error('the commit failed');
  const LOST = new Error('the commit was acknowledged, then lost');

  /** Rolls back 5 % of the transactions: half with an error, half silently. */
  const lossy = (knex: Knex, random: () => number): KnexLike<Knex.Transaction> => ({
    transaction: async <T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T> => {
      let result: { value: T } | undefined;
      try {
        return await knex.transaction(async (trx) => {
          const value = await work(trx);
          const chance = random();
          result = { value };
          if (chance < 0.05) throw chance < 0.025 ? REFUSED : LOST;
          return value;
        });
      } catch (error) {
        if (error === LOST && result !== undefined) return result.value;
        throw error;
      }
    },
  });

  const catchUpUntilDone = async (receiver: WebhookReceiver): Promise<void> => {
    await waitFor(
      async () => {
        try {
          return (await receiver.catchUp()).lastSequence === EVENTS;
        } catch (error) {
          if (error === REFUSED) return false;
          throw error;
        }
      },
      { timeoutMs: 60_000 },
    );
  };

  test('handles every event once and in order, without a person', { timeout: 120_000 }, async () => {
    const receiver = createWebhookReceiver({
      secret: SECRET,
      clientId: CLIENT_ID,
      store: createPostgresWebhookStore(lossy(database.knex, seededRandom(28))),
      events: { baseUrl: service.url, clientSecret: CLIENT_SECRET },
      handle: async ({ sequence }, trx) => void (await trx('work').insert({ sequence })),
    });
    /** Delivers as the service does: an event follows only after the one before was answered 2xx. */
    const deliver = async (sequence: number): Promise<void> => {
      while ((await receiver.receive(deliveryOf(testEvent(sequence)))).status !== 204);
    };
    for (let sequence = 1; sequence < OUTAGE.from; sequence += 1) {
      service.add(testEvent(sequence));
      await deliver(sequence);
    }
    addEvents(OUTAGE.from, OUTAGE.to);
    const caughtUp = catchUpUntilDone(receiver);
    // The service goes on where it was, while the receiver is far ahead of it.
    addEvents(OUTAGE.to + 1, EVENTS);
    for (let sequence = OUTAGE.from; sequence <= EVENTS; sequence += 70) await deliver(sequence);
    await caughtUp;
    // What was lost after the last round is found by the next.
    await catchUpUntilDone(receiver);
    const sequences = await database.knex('work').orderBy('id').pluck('sequence');
    expect(sequences.map(Number)).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
  });
});

describe('a delivery behind a gap', () => {
  test('waits until the events before it were fetched and processed', async () => {
    const receiver = receiverWith();
    addEvents(1, 250);
    expect(await outcomeOf(receiver, testEvent(1))).toBe('processed');
    expect(service.fetched).toEqual([]);
    expect(await outcomeOf(receiver, testEvent(250))).toBe('processed');
    expect(service.fetched).toEqual([1, 101, 201]);
    expect(handled).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
    expect(await outcomeOf(receiver, testEvent(7))).toBe('duplicate');
  });

  test('passes over skipped events, and processes cancelled ones and snapshots in order', async () => {
    const receiver = receiverWith();
    service.add(snapshot(1, 1), 'delivered');
    service.add(testEvent(2), 'skipped');
    service.add(snapshot(3, 2), 'cancelled');
    expect(await outcomeOf(receiver, snapshot(4, 3))).toBe('processed');
    expect(handled).toEqual([1, 3, 4]);
  });

  test('records kinds that this release does not know', async () => {
    const receiver = receiverWith();
    const unknown = { ...testEvent(1), event: 'subscription.paused', data: {} };
    // A later release of the service sends it.
    service.add(unknown as unknown as WebhookEvent);
    expect(await outcomeOf(receiver, testEvent(2))).toBe('processed');
    expect(await receiver.receive(deliveryOf(unknown))).toMatchObject({ outcome: 'duplicate' });
    expect(handled).toEqual([2]);
  });

  test('is answered 503 if closing the gap takes too long, and goes on where it stopped', async () => {
    let seconds = Date.now() / 1000;
    const clock = (): Date => {
      seconds += 0.5;
      return new Date(seconds * 1000);
    };
    const receiver = receiverWith({ clock });
    addEvents(1, 20);
    expect(await receiver.receive(deliveryOf(testEvent(20)))).toEqual({ outcome: 'behind', status: 503 });
    const before = handled.length;
    expect(before).toBeGreaterThan(5);
    expect(before).toBeLessThan(19);
    expect(await outcomeOf(receiver, testEvent(20))).toBe('processed');
    expect(handled).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  test('fails with the reason if the list cannot be fetched, and changes nothing', async () => {
    const receiver = receiverWith();
    const json = (status: number, body: unknown) => (response: ServerResponse) =>
      void response.writeHead(status).end(JSON.stringify(body));
    const page = { data: [{ event_id: 'evt_1', sequence: 1, status: 'queued', payload: '{}' }], has_more: false };
    const reasons = [
      [json(401, {}), 'unauthorized'],
      [json(410, {}), 'gone'],
      [json(503, {}), 'unavailable'],
      [(response: ServerResponse) => void response.destroy(), 'unavailable'],
      [json(200, page), 'invalid_answer'],
      [json(200, { data: [], has_more: true }), 'invalid_answer'],
    ] as const;
    for (const [answer, reason] of reasons) {
      service.answers.push(answer);
      const receipt = await receiver.receive(deliveryOf(testEvent(9)));
      expect(receipt, reason).toMatchObject({ outcome: 'failed', status: 500, error: { reason } });
      expect('error' in receipt && receipt.error).toBeInstanceOf(WebhookEventsError);
    }
    expect(handled).toEqual([]);
  });
});

describe('events that the service no longer has', () => {
  test('stop a receiver that has not said what to do, with an error that names them', async () => {
    const receiver = receiverWith();
    addEvents(1, 2);
    await receiver.catchUp();
    addEvents(3, 9);
    service.deleteUpTo(6);
    await expect(receiver.catchUp()).rejects.toMatchObject({ name: 'WebhookEventsLostError', from: 3, to: 6 });
    const receipt = await receiver.receive(deliveryOf(testEvent(9)));
    expect('error' in receipt && receipt.error).toBeInstanceOf(WebhookEventsLostError);
    service.deleteUpTo(9);
    expect(await receiver.receive(deliveryOf(testEvent(10)))).toMatchObject({ error: { from: 3, to: 9 } });
    expect(handled).toEqual([1, 2]);
  });

  test('are reported once to `onGap`, then passed over', async () => {
    const receiver = receiverWith({ onGap: (gap) => void gaps.push(gap) });
    addEvents(1, 2);
    await receiver.catchUp();
    addEvents(3, 9);
    service.deleteUpTo(6);
    await receiver.catchUp();
    service.deleteUpTo(20);
    expect(await outcomeOf(receiver, testEvent(12))).toBe('processed');
    expect(handled).toEqual([1, 2, 7, 8, 9, 12]);
    expect(gaps).toEqual([
      { integrationId: CLIENT_ID, from: 3, to: 6 },
      { integrationId: CLIENT_ID, from: 10, to: 11 },
    ]);
  });

  test('are no gap to an empty store, which may also begin later', async () => {
    addEvents(1, 9);
    service.deleteUpTo(4);
    expect(await receiverWith().catchUp()).toEqual({ processed: 5, lastSequence: 9 });
    const events = { baseUrl: service.url, clientSecret: CLIENT_SECRET, startAfterSequence: 7 };
    expect(await receiverWith({ events }).catchUp()).toEqual({ processed: 2, lastSequence: 9 });
    expect(handled).toEqual([5, 6, 7, 8, 9, 8, 9]);
  });
});

describe('catching up', () => {
  test('stops at a failing event and goes on there', async () => {
    let fails = true;
    const receiver = receiverWith({
      handle: async ({ sequence }) => {
        if (sequence === 3 && fails) throw new Error('out of stock');
        handled.push(sequence);
      },
    });
    addEvents(1, 5);
    await expect(receiver.catchUp()).rejects.toThrow('out of stock');
    fails = false;
    expect(await receiver.catchUp()).toEqual({ processed: 3, lastSequence: 5 });
    expect(await receiver.catchUp()).toEqual({ processed: 0, lastSequence: 5 });
    expect(handled).toEqual([1, 2, 3, 4, 5]);
  });

  test('shares the work with other workers and with deliveries', async () => {
    const receiver = receiverWith();
    addEvents(1, 150);
    await Promise.all([receiver.catchUp(), receiver.catchUp(), receiver.receive(deliveryOf(testEvent(120)))]);
    expect(handled).toEqual(Array.from({ length: 150 }, (_, index) => index + 1));
  });

  test('gives up on a store that does not keep what it commits', async () => {
    const store = { ...createMemoryWebhookStore(), updateLastSequence: async () => undefined };
    addEvents(1, 3);
    await expect(receiverWith({ store }).catchUp()).rejects.toThrow('does not keep');
  });

  test('needs the option `events`', async () => {
    await expect(receiverWith({ events: undefined }).catchUp()).rejects.toThrow(TypeError);
    const events = { baseUrl: 'http://svc.example', clientSecret: CLIENT_SECRET };
    expect(() => receiverWith({ events })).toThrow(/https/);
  });

  test('is kept up until stopped, and a failed round is reported', async () => {
    const errors: unknown[] = [];
    service.answers.push((response) => void response.writeHead(503).end());
    addEvents(1, 3);
    const receiver = receiverWith();
    const caughtUp = keepCaughtUp(receiver, { everySeconds: 0.01, onError: (error) => errors.push(error) });
    await waitFor(async () => handled.length === 3);
    addEvents(4, 5);
    await waitFor(async () => handled.length === 5);
    await caughtUp.stop();
    addEvents(6, 6);
    expect(errors).toMatchObject([{ reason: 'unavailable' }]);
    expect(handled).toEqual([1, 2, 3, 4, 5]);
  });
});
