import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { SettledRequest } from './reservation.ts';

/** Outcome of a request. Only the sweep and the operator report `estimate`. */
export interface SettlementInput {
  readonly requestId: string;
  readonly outcome: 'settled' | 'released' | 'uncertain' | 'estimate';
  readonly costMicros: number | null;
}

const settledColumns = recordColumns<SettledRequest>({
  requestId: 'request_id text',
  state: 'state text',
  effect: 'effect text',
  writtenOffMicros: 'written_off_micros bigint',
});

const SETTLE = {
  name: 'settle_requests',
  text: `SELECT ${settledColumns.select('s')} FROM settle_requests($1, $2, $3, $4) AS s ORDER BY s.place`,
};

/**
 * Ends reservations in one round trip. Returns the results in input order. Within a transaction, pass the requests that
 * `giveUpUnadmitted` has returned before it began.
 */
export const settleReservations = async (
  database: Knex,
  settlements: readonly SettlementInput[],
  givenUp?: readonly string[],
): Promise<SettledRequest[]> => {
  const unadmitted = givenUp ?? (await giveUpUnadmitted(database, settlements));
  return await runPrepared<SettledRequest>(database, SETTLE, [
    settlements.map(({ requestId }) => requestId),
    settlements.map(({ outcome }) => outcome),
    settlements.map(({ costMicros }) => costMicros),
    unadmitted,
  ]);
};

const LOCK_PAYING_WALLETS = { name: 'lock_paying_wallets', text: 'SELECT lock_paying_wallets($1, $2)' };

/** Locks the wallets of accounts, and those that pay delegated requests, before a transaction that ends both kinds of requests. */
export const lockPayingWallets = async (
  trx: Knex.Transaction,
  { userIds, requestIds }: { readonly userIds: readonly string[]; readonly requestIds: readonly string[] },
): Promise<void> => {
  await runPrepared(trx, LOCK_PAYING_WALLETS, [userIds, requestIds]);
};

const LIST_UNKNOWN = {
  name: 'list_unknown_requests',
  text: `SELECT DISTINCT request_id FROM unnest($1::text[]) AS given (request_id)
    WHERE NOT EXISTS (SELECT FROM reservations AS r WHERE r.request_id = given.request_id)`,
};
const GIVE_UP = { name: 'give_up_request', text: 'SELECT give_up_request($1) AS "isGivenUp"' };

/**
 * Leaves tombstones for released requests that were never admitted, and returns their ids. Each commits alone: one that waits
 * for an admission must hold no lock that this admission may want.
 */
export const giveUpUnadmitted = async (
  database: Knex,
  settlements: readonly Pick<SettlementInput, 'requestId' | 'outcome'>[],
): Promise<string[]> => {
  const released = settlements.filter(({ outcome }) => outcome === 'released').map(({ requestId }) => requestId);
  if (released.length === 0) return [];
  const unknown = await runPrepared<{ request_id: string }>(database, LIST_UNKNOWN, [released]);
  const givenUp: string[] = [];
  for (const { request_id: requestId } of unknown) {
    const [row] = await runPrepared<{ isGivenUp: boolean }>(database, GIVE_UP, [requestId]);
    if (row?.isGivenUp === true) givenUp.push(requestId);
  }
  return givenUp;
};

/** Lists reserved requests without a holder that are older than `ageSeconds`, oldest first. */
export const listOverdueReserved = async (database: Knex, ageSeconds: number, limit: number): Promise<string[]> =>
  await database('reservations')
    .where({ state: 'reserved', holder_id: null })
    .whereRaw('created_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds])
    .orderBy('created_at')
    .limit(limit)
    .pluck('request_id');

/** Lists requests that have been uncertain for longer than `ageSeconds`, oldest first. */
export const listOverdueUncertain = async (database: Knex, ageSeconds: number, limit: number): Promise<string[]> =>
  await database('reservations')
    .where({ state: 'uncertain' })
    .whereRaw('uncertain_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds])
    .orderBy('uncertain_at')
    .limit(limit)
    .pluck('request_id');

/** Counts open requests of apps, and uncertain ones of apps and keys, for the metrics. */
export const countOpen = async (database: Knex): Promise<{ reserved: number; uncertain: number }> => {
  const { rows } = await database.raw<{ rows: { reserved: number; uncertain: number }[] }>(
    `SELECT (SELECT count(*) FROM reservations WHERE state = 'reserved') AS reserved,
            (SELECT count(*) FROM reservations WHERE state = 'uncertain')
              + (SELECT count(*) FROM uncertain_key_requests) AS uncertain`,
  );
  return rows[0] ?? { reserved: 0, uncertain: 0 };
};

/** Stores usage of requests that were never admitted. Stores a repeated report once. */
export const insertUnadmitted = async (
  trx: Knex.Transaction,
  usage: readonly { requestId: string; eventId: string; fact: object }[],
): Promise<void> => {
  if (usage.length === 0) return;
  const rows = usage.map(({ requestId, eventId, fact }) => ({
    request_id: requestId,
    event_id: eventId,
    fact: JSON.stringify(fact),
    received_at: trx.raw('billing_now()'),
  }));
  await trx('unadmitted_usage').insert(rows).onConflict().ignore();
};
