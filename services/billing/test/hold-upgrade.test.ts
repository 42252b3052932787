import { readdirSync } from 'node:fs';
import { isLockTimeout, isUniqueViolation } from '@svc/database';
import { type TestDatabase, testDatabase, waitFor } from '@svc/testing';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances/index.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const FILES = readdirSync(MIGRATIONS)
  .filter((file) => file.endsWith('.ts'))
  .sort();
const UPGRADE = '20261122110000_hold_without_postings.ts';
const PAID_MICROS = 20_000_000;
const HOLD_MICROS = 1_000_000;

let database: TestDatabase;
let db: Knex;
beforeAll(async () => {
  database = await testDatabase();
  db = database.knex;
  for (const file of FILES.filter((file) => file < UPGRADE)) await migrate(file);
  // Longer lock timeouts than released, so that a slow machine does not affect the result.
  await db.raw(`
    ALTER FUNCTION admit_one_keyed SET lock_timeout = '5s';
    ALTER FUNCTION settle_one SET lock_timeout = '5s';
    SELECT wallet_credit('usr', ${PAID_MICROS}, 'EUR', 'top_up')`);
  await db('checkout_sessions').insert({
    id: 'cs',
    svc_user_id: 'usr',
    kind: 'top_up',
    amount_micros: PAID_MICROS,
    provider: 'sandbox',
    status: 'complete',
    created_at: new Date(),
    completed_at: new Date(),
    expires_at: new Date(),
  });
});
afterAll(() => database.drop());

const migrate = async (file: string): Promise<void> => {
  const { up } = await import(new URL(file, MIGRATIONS).href);
  await db.transaction((trx) => up(trx));
};
/**
 * The calls of the release that this upgrade was made for: several requests, one that comes alone, one that may wait.
 */
const admit = async (requestIds: readonly string[], on = db): Promise<string[]> => {
  const ids = `{${requestIds.map((id) => `"${id}"`).join()}}`;
  const each = (text: string) => `array_fill(${text}, ARRAY[${requestIds.length}])`;
  const call =
    requestIds.length === 1
      ? `admit_one_keyed((?::text[])[1], 'usr', 'key', ${HOLD_MICROS}, NULL, NULL)`
      : `admit_keyed_many(?, ${each("'usr'::text")}, ${each("'key'::text")}, ${each(`${HOLD_MICROS}::bigint`)}, NULL, NULL)`;
  const { rows } = await on.raw(`SELECT verdict FROM ${call}`, [ids]);
  return rows.map(({ verdict }: { verdict: string }) => verdict);
};
const admitPatiently = async (requestId: string, holdMicros = HOLD_MICROS): Promise<string> => {
  const values = [requestId, holdMicros];
  return (await db.raw("SELECT verdict FROM admit_keyed(?, 'usr', 'key', ?, NULL, NULL)", values)).rows[0].verdict;
};
type Outcome = number | 'released' | 'uncertain' | 'estimate';
const settle = async (requestId: string, outcome: Outcome, mayWait = false): Promise<string> => {
  const values = typeof outcome === 'number' ? ['settled', outcome] : [outcome, null];
  const call = mayWait ? "settle_many(ARRAY[?], ARRAY[?], ARRAY[?::bigint], 'EUR')" : "settle_one(?, ?, ?, 'EUR')";
  return (await db.raw(`SELECT effect FROM ${call}`, [requestId, ...values])).rows[0].effect;
};
const wallet = () => db('wallets').where({ svc_user_id: 'usr' }).first('balance_micros', 'held_micros');
const heldInLedger = async (): Promise<number> => {
  const { rows } = await db.raw(
    "SELECT sum(amount_micros)::bigint AS held FROM ledger_entries WHERE book = 'wallet_held'",
  );
  return rows[0].held;
};
const postingsOf = async (requestId: string): Promise<string[]> =>
  db('ledger_postings').where({ reference: requestId }).orderBy('id').pluck('kind');
const countWaiting = async (): Promise<number> => {
  const { rows } = await db.raw(
    "SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted AND relation = 'wallets'::regclass",
  );
  return rows[0].waiting;
};

describe('an upgrade with holds in flight', () => {
  const calls: Record<string, PromiseSettledResult<unknown>> = {};
  beforeAll(async () => {
    await admit(['settled', 'released', 'estimated', 'uncertain', 'grouped']);
    for (const id of ['alone', 'to settle', 'to release', 'to settle patiently']) await admit([id]);
    await admitPatiently('free', 0);
    await settle('settled', 100_000);
    await settle('released', 'released');
    for (const id of ['estimated', 'uncertain']) await settle(id, 'uncertain');
    await settle('estimated', 'estimate');
    expect(await heldInLedger()).toBe(6 * HOLD_MICROS);

    // The upgrade waits for an uncommitted admission, and calls wait for the upgrade.
    const uncommitted = await db.transaction();
    await admit(['uncommitted'], uncommitted);
    const upgrade = migrate(UPGRADE);
    await waitFor(async () => (await countWaiting()) === 1 || undefined);
    const begun = {
      'admit alone': admit(['late']),
      'admit patiently': admitPatiently('late and patient'),
      'settle alone': settle('to settle', 200_000),
      'release alone': settle('to release', 'released'),
      'settle patiently': settle('to settle patiently', 300_000, true),
    };
    const ended = Promise.allSettled(Object.values(begun));
    await waitFor(async () => (await countWaiting()) === 6 || undefined);
    await uncommitted.commit();
    await upgrade;
    const results = await ended;
    for (const file of FILES.filter((file) => file > UPGRADE)) await migrate(file);
    Object.keys(begun).forEach((name, place) => {
      const result = results[place];
      if (result !== undefined) calls[name] = result;
    });
  });

  test('moves all holds out of the ledger and keeps every balance proven', async () => {
    expect(await heldInLedger()).toBe(0);
    expect(await checkBalances(db)).toEqual([]);
    expect(await wallet()).toEqual({
      balance_micros: PAID_MICROS - 100_000 - HOLD_MICROS - 300_000,
      held_micros: 6 * HOLD_MICROS,
    });
    for (const id of ['alone', 'grouped', 'uncertain', 'uncommitted']) {
      expect(await postingsOf(id)).toEqual(['hold', 'release']);
    }
    expect(await postingsOf('settled')).toEqual(['hold', 'settlement']);
    expect(await postingsOf('released')).toEqual(['hold', 'release']);
    expect(await postingsOf('free')).toEqual([]);
  });

  test('fails calls that still run the old functions with a lock timeout, and accepts them when retried', async () => {
    const isRefused = { reason: expect.toSatisfy(isLockTimeout) };
    expect(calls['admit alone']).toMatchObject(isRefused);
    expect(calls['admit patiently']).toMatchObject(isRefused);
    expect(calls['settle alone']).toMatchObject(isRefused);
    // The upgrade has already posted this release.
    expect(calls['release alone']).toMatchObject({ reason: expect.toSatisfy((error) => isUniqueViolation(error)) });
    expect(calls['settle patiently']).toMatchObject({ value: 'settled' });
    expect(await admit(['late'])).toEqual(['admitted']);
    expect(await admitPatiently('late and patient')).toBe('admitted');
    expect(await settle('to settle', 200_000)).toBe('settled');
    expect(await settle('to release', 'released')).toBe('released');
    expect(await checkBalances(db)).toEqual([]);
    expect(await wallet()).toMatchObject({ held_micros: 6 * HOLD_MICROS });
  });

  test('settles requests admitted before it at their cost, once', async () => {
    const before = await wallet();
    const ends: [string, Outcome, string, string[]][] = [
      ['alone', 400_000, 'settled', ['hold', 'release', 'settlement']],
      ['grouped', HOLD_MICROS + 50_000, 'settled', ['hold', 'release', 'settlement']],
      ['uncertain', 'released', 'settled', ['hold', 'release']],
      ['uncommitted', 'released', 'released', ['hold', 'release']],
      ['estimated', 250_000, 'adjusted', ['hold', 'settlement', 'adjustment']],
      ['free', 7, 'settled', ['settlement']],
      ['late', 500_000, 'settled', ['settlement']],
      ['late and patient', 'released', 'released', []],
    ];
    for (const [id, outcome, effect, postings] of ends) {
      expect([id, await settle(id, outcome), await settle(id, outcome)]).toEqual([id, effect, 'none']);
      expect(await postingsOf(id), id).toEqual(postings);
    }
    const cost = 400_000 + HOLD_MICROS + 50_000 + (250_000 - HOLD_MICROS) + 7 + 500_000;
    expect(await wallet()).toEqual({ balance_micros: before.balance_micros - cost, held_micros: 0 });
    expect(await heldInLedger()).toBe(0);
    expect(await checkBalances(db)).toEqual([]);
  });
});
