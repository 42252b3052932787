import { FIRST_EPOCH } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { appendToOutbox, beginEpoch, type Relay } from '../src/index.ts';
import { beginConsumption, type Consumption } from './support/consumption.ts';
import { appFact, readEffects, recordEffect, registerApp, updateApp } from './support/effects.ts';
import { createStage, type Stage } from './support/stage.ts';

let stage: Stage;
let relay: Relay;
let consume: Consumption['consume'];
beforeAll(async () => {
  stage = await createStage(['test_epochs']);
});
beforeEach(async () => {
  ({ relay, consume } = await beginConsumption(stage));
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const total = async () => (await readEffects(stage.knex)).total;
const isHandled = async (version: number, epoch: string) => {
  const { rows } = await stage.knex.raw(
    'SELECT 1 FROM inbox JOIN outbox ON outbox.id = inbox.event_id WHERE version = ? AND epoch = ?',
    [version, epoch],
  );
  return rows.length > 0;
};

test('facts after a restore take effect regardless of their version; facts of the earlier epoch are dropped', async () => {
  consume('test_epochs', { ordered: true, handle: recordEffect });
  const clientId = await registerApp(stage.knex);
  await updateApp(stage.knex, clientId);
  await updateApp(stage.knex, clientId);
  relay.hint();
  await waitFor(async () => (await total()) === 3);

  // The publisher's database is restored to the moment after the first fact: version 2 is given out again.
  await stage.knex('app').where({ client_id: clientId }).update({ version: 1 });
  const { epoch } = await beginEpoch(stage.knex, new Date());
  await updateApp(stage.knex, clientId);
  relay.hint();
  await waitFor(() => isHandled(2, epoch));
  expect(await total()).toBe(4);

  const late = { aggregate: `app:${clientId}`, version: 9, epoch: FIRST_EPOCH };
  const [row] = await stage.knex('outbox').where({ version: 3 });
  const { seq: _seq, stream_seq: _streamSeq, published_at: _publishedAt, ...fields } = row;
  await stage.knex('outbox').insert({ ...fields, ...late, id: '01920000-0000-7000-8000-000000000001' });
  relay.hint();
  await waitFor(() => isHandled(9, FIRST_EPOCH));
  expect(await total()).toBe(4);
});

test('a repetition for the same restored moment continues its epoch', async () => {
  const restoredTo = new Date('2026-11-20T12:00:00Z');
  const first = await beginEpoch(stage.knex, restoredTo);
  expect(await beginEpoch(stage.knex, restoredTo)).toEqual(first);
  expect((await beginEpoch(stage.knex, new Date('2026-11-21T12:00:00Z'))).epoch > first.epoch).toBe(true);
});

test('a transaction that has read the epoch publishes in it, while the next one waits to begin', async () => {
  const clientId = await registerApp(stage.knex);
  const trx = await stage.knex.transaction();
  const { rows } = await trx.raw('SELECT current_epoch() AS epoch');
  const next = beginEpoch(stage.knex, new Date('2026-11-22T12:00:00Z'));
  await waitFor(async () => (await stage.knex('pg_locks').where({ granted: false })).length > 0);
  await appendToOutbox(trx, appFact('auth.app.updated.v1', clientId, 2));
  await trx.commit();
  const { epoch } = await next;
  expect(await stage.knex('outbox').where({ version: 2 }).pluck('epoch')).toEqual([rows[0].epoch]);
  expect(epoch > rows[0].epoch).toBe(true);
});
