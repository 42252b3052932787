import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { dumpSchema } from '@svc/database';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIST_APP_DAYS } from '../src/analytics.ts';
import { claimDueLanes, storeEvents } from '../src/events/index.ts';
import { sectionsWith } from '../src/personal-data.ts';
import { MIGRATIONS } from './support/dispatcher.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase({ migrations: MIGRATIONS });
});
afterAll(async () => {
  await database?.drop();
});

test('schema.sql matches the migrated database', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await dumpSchema(database.url)).toMatchFileSnapshot(file);
});

describe('one blocked app with 100,000 waiting events', () => {
  const WAITING = 100_000;

  test('slows no claim, which finds due lanes by their index and reads no events', { timeout: 60_000 }, async () => {
    const { knex } = database;
    const blocked = newId('app');
    await knex('lanes').insert({ owner_id: blocked, generation: 1, last_sequence: WAITING + 1, blocked_sequence: 1 });
    await knex.raw(
      `INSERT INTO events (owner_id, sequence, event_id, generation, event, body, created)
       SELECT ?, n, 'evt_' || n, 1, 'integration.test', '', 0 FROM generate_series(1, ?) n`,
      [blocked, WAITING + 1],
    );
    const others = Array.from({ length: 5_000 }, () => newId('app'));
    await knex.batchInsert(
      'lanes',
      others.map((owner_id) => ({ owner_id, generation: 1 })),
    );
    await knex.raw('ANALYZE');
    const due = others.slice(0, 20);
    const drafts = due.map((ownerId) => ({
      ownerId,
      userId: newId('usr'),
      event: 'integration.test' as const,
      data: { message: 'x' },
      factId: null,
    }));
    await knex.transaction((trx) => storeEvents(trx, drafts, { clock: () => new Date(), newId }));
    const { rows } = await knex.raw(
      'EXPLAIN SELECT owner_id FROM lanes WHERE due_at <= now() AND pace = ? ORDER BY due_at LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED',
      ['unknown'],
    );
    const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index Scan using lanes_due');
    expect(plan).not.toContain('Seq Scan');
    expect(plan).not.toContain('Sort');
    const claimed = await claimDueLanes(knex, { prompt: 100, unknown: 100, slow: 100 });
    expect(claimed.map(({ lane }) => lane.ownerId).sort()).toEqual([...due].sort());
  });
});

test.each(sectionsWith({ retentionDays: 30 }))(
  'exports the section $name of a person through an index',
  async ({ sql }) => {
    const plan = await database.knex.transaction(async (trx) => {
      // A sequential scan is then planned only where no index fits.
      await trx.raw('SET LOCAL enable_seqscan = off');
      const { rows } = await trx.raw(`EXPLAIN ${sql.replaceAll('$1', "'usr_1'")}`);
      return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).not.toContain('Seq Scan');
  },
);
describe('the numbers of an app', () => {
  test('are read by index, and only within their range', async () => {
    const { knex } = database;
    const clientId = newId('app');
    const values = { clientId, from: '2026-10-01', to: '2026-10-02', startsAt: '2026-10-01Z', endsAt: '2026-10-03Z' };
    const plan = await knex.transaction(async (trx) => {
      await trx.raw('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
      const { rows } = await trx.raw(`EXPLAIN ${LIST_APP_DAYS}`, values);
      return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
    });
    for (const [index, column] of [
      ['connections_by_app', 'connected_at'],
      ['delivery_attempts_by_time', 'at'],
    ]) {
      expect(plan).toMatch(new RegExp(`using ${index} .*\\n.*Index Cond: .*${column} >= .*${column} <`));
    }
  });
});
