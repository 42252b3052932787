import type { SettlementsRequest, UsageFact } from '@svc/contracts';

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
  /** True if the wallet pays although no lease covers the request. Only the operator decides so. */
  readonly is_unadmitted?: true;
}

/** Returns the outcome in a usage fact, with the details of a receipt. */
export const outcomeOfFact = ({ lease, served_by, ...fact }: UsageFact): KeyOutcome => ({
  ...fact,
  ...lease,
  ...served_by,
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
