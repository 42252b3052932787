import type { SettlementsRequest, UsageFact } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';

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

/** Outcome of an API-key request, with the names that `settle_key_requests` reads. Only the sweep and the operator report `estimate`. */
export interface KeyOutcome {
  readonly request_id: string;
  readonly svc_user_id: string;
  readonly outcome: UsageFact['outcome'] | 'estimate';
  /** Cost if settled; if uncertain, the cost that is charged unless the actual outcome becomes known. */
  readonly cost_micros: number;
  readonly key_id?: string | null;
  readonly lease_id?: string;
  readonly hold_micros?: number;
  readonly started_at?: string;
  readonly service?: UsageFact['service'];
  /** True if the wallet pays although no lease covers the request. Only the operator decides so. */
  readonly is_unadmitted?: true;
}

/** Returns the outcome in a usage fact. Its counts stay with the gateway, which has them signed on receipts. */
export const outcomeOfFact = ({ lease, ...fact }: UsageFact): KeyOutcome => ({
  request_id: fact.request_id,
  svc_user_id: fact.svc_user_id,
  key_id: fact.key_id,
  service: fact.service,
  outcome: fact.outcome,
  cost_micros: fact.cost_micros,
  started_at: fact.started_at,
  ...lease,
});

/** Returns the outcome in a settlement by call; undefined if it is that of a delegated request. */
export const outcomeOfCall = ({
  request_id,
  svc_user_id,
  result,
  key,
}: SettlementsRequest['settlements'][number]): KeyOutcome | undefined => {
  if (key === undefined) return undefined;
  const { estimate_micros, ...spent } = key;
  const cost = { settled: 'cost_micros' in result ? result.cost_micros : 0, released: 0, uncertain: estimate_micros };
  return { request_id, svc_user_id, outcome: result.outcome, cost_micros: cost[result.outcome], ...spent };
};
