import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { KeyOutcome } from './key-outcome.ts';

/** State of an API-key request after a settlement. */
export interface SettledKeyRequest {
  readonly requestId: string;
  readonly state: 'settled' | 'released' | 'uncertain' | null;
  readonly effect: 'none' | 'settled' | 'released' | 'uncertain' | 'adjusted' | 'conflict' | 'unknown' | 'ignored';
  /** Cost beyond its hold. */
  readonly overHoldMicros: number;
  /** Part of the cost that this settlement wrote off. */
  readonly writtenOffMicros: number;
}

const columns = recordColumns<SettledKeyRequest>({
  requestId: 'request_id text',
  state: 'state text',
  effect: 'effect text',
  overHoldMicros: 'over_hold_micros bigint',
  writtenOffMicros: 'written_off_micros bigint',
});

const SETTLE = {
  name: 'settle_key_requests',
  text: `SELECT ${columns.select('s')} FROM settle_key_requests($1::jsonb, $2) AS s ORDER BY s.place`,
};

/** Ends API-key requests as reported, each once, in one round trip. Returns the results in the order of the outcomes. */
export const settleKeyRequests = async (
  database: Knex,
  outcomes: readonly KeyOutcome[],
  currency: string,
): Promise<readonly SettledKeyRequest[]> =>
  outcomes.length === 0
    ? []
    : await runPrepared<SettledKeyRequest>(database, SETTLE, [JSON.stringify(outcomes), currency]);
