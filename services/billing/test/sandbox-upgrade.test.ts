import { readdirSync } from 'node:fs';
import { type TestDatabase, testDatabase } from '@svc/testing';
import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const FILES = readdirSync(MIGRATIONS)
  .filter((file) => file.endsWith('.ts'))
  .sort();
const UPGRADE = '20261125020000_move_sandbox_payments.ts';
const AT = new Date('2026-10-01T12:00:00.000Z');

let database: TestDatabase;
let db: Knex;
beforeAll(async () => {
  database = await testDatabase();
  db = database.knex;
  for (const file of FILES.filter((file) => file < UPGRADE)) await migrate(file);
});
afterAll(() => database.drop());

const migrate = async (file: string): Promise<void> => {
  const { up } = await import(new URL(file, MIGRATIONS).href);
  await db.transaction((trx) => up(trx));
};

/** Runs the statement of the previous release, which does not qualify table names. */
const saveAsBefore = async (id: string, status: string): Promise<void> => {
  await db('sandbox_subscriptions')
    .insert({
      id,
      customer: 'usr',
      plan_id: 'basic',
      interval: 'month',
      status,
      anchor: AT,
      period_start: AT,
      period_end: new Date('2026-11-01T12:00:00.000Z'),
      card: 'declines_renewals',
      clock_ahead_seconds: 5,
      is_announced: false,
    })
    .onConflict('id')
    .merge();
};
const startAsBefore = async (id: string): Promise<void> => {
  await db('sandbox_sessions')
    .insert({
      id,
      customer: 'usr',
      description: 'Basic',
      plan_id: 'basic',
      interval: 'month',
      amount_micros: 5_000_000,
      currency: 'EUR',
      success_url: 'https://shop.example/done',
      cancel_url: 'https://shop.example/back',
      expires_at: AT,
    })
    .onConflict('id')
    .ignore();
};

test('keeps all rows, and lets the previous release keep working with them', async () => {
  await saveAsBefore('kept', 'active');
  await startAsBefore('cs_kept');
  await db('sandbox_sessions').where({ id: 'cs_kept' }).update({ status: 'complete', subscription_id: 'kept' });
  await db('sandbox_portal_sessions').insert({
    id: 'portal',
    customer: 'usr',
    return_url: 'https://a/',
    expires_at: AT,
  });
  const before = {
    subscription: await db('sandbox_subscriptions').first(),
    session: await db('sandbox_sessions').first(),
    portal: await db('sandbox_portal_sessions').first(),
  };

  await migrate(UPGRADE);

  expect(await db('sandbox_payments.subscriptions').first()).toEqual(before.subscription);
  const { was_declined: _, ...session } = before.session;
  expect(await db('sandbox_payments.sessions').first()).toEqual(session);
  expect(await db('sandbox_payments.portal_sessions').first()).toEqual(before.portal);

  await saveAsBefore('kept', 'past_due');
  await saveAsBefore('new', 'active');
  await startAsBefore('cs_new');
  await startAsBefore('cs_new');
  await db.transaction(async (trx) => {
    const row = await trx('sandbox_sessions')
      .where({ id: 'cs_new' })
      .select('*', trx.raw('expires_at <= billing_now() AS is_over'))
      .forUpdate()
      .first();
    expect(row).toMatchObject({ status: 'open', is_over: true, is_challenged: false, is_announced: true });
    await trx('sandbox_sessions').where({ id: 'cs_new' }).update({ status: 'complete', subscription_id: 'new' });
  });
  expect(await db('sandbox_payments.subscriptions').orderBy('id').select('id', 'status', 'card')).toEqual([
    { id: 'kept', status: 'past_due', card: 'declines_renewals' },
    { id: 'new', status: 'active', card: 'declines_renewals' },
  ]);
  expect(await db('sandbox_payments.sessions').orderBy('id').pluck('subscription_id')).toEqual(['kept', 'new']);
});
