import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { SettledRequest } from './reservation.ts';

/** Outcome of a request. Only the sweep and the operator report `estimate`. */
export interface SettlementInput {
  readonly requestId: string;
  readonly outcome: 'settled' | 'released' | 'uncertain' | 'estimate';
  readonly costMicros: number | null;
  /** Tokens of an API-key request; null if unknown. */
  readonly tokens?: number | null;
}

const settledColumns = recordColumns<SettledRequest>({
  requestId: 'request_id text',
  state: 'state text',
  effect: 'effect text',
  overHoldMicros: 'over_hold_micros bigint',
  writtenOffMicros: 'written_off_micros bigint',
});

const SETTLE = {
  name: 'settle_requests',
  text: `SELECT ${settledColumns.select('s')} FROM settle_requests($1, $2, $3, $4, $5) AS s ORDER BY s.place`,
};

/** Ends reservations in one round trip. Returns the results in input order. */
export const settleReservations = async (
  database: Knex,
  settlements: readonly SettlementInput[],
  currency: string,
): Promise<SettledRequest[]> =>
  await runPrepared<SettledRequest>(database, SETTLE, [
    settlements.map(({ requestId }) => requestId),
    settlements.map(({ outcome }) => outcome),
    settlements.map(({ costMicros }) => costMicros),
    currency,
    settlements.map(({ tokens }) => tokens ?? null),
  ]);

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

/** Counts open reservations by state, for the metrics. */
export const countOpen = async (database: Knex): Promise<{ reserved: number; uncertain: number }> => {
  const { rows } = await database.raw<{ rows: { reserved: number; uncertain: number }[] }>(
    `SELECT (SELECT count(*) FROM reservations WHERE state = 'reserved') AS reserved,
            (SELECT count(*) FROM reservations WHERE state = 'uncertain') AS uncertain`,
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
