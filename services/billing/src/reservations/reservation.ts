import type { Admission, RequestOutcome, ReservationState } from '@svc/contracts';

/** The outcome of a request, with its id. */
export interface Settlement {
  readonly request_id: string;
  readonly result: RequestOutcome;
  /** Input and output tokens; null or absent if they are not known. */
  readonly tokens?: number | null;
}

/**
 * Effect of a settlement. `none`: reported before; `conflict`: another outcome stands; `adjusted`: true usage has corrected
 * an estimate; `unknown`: a cost of a request that was never admitted; `ignored`: the same without a cost.
 */
export type SettlementEffect =
  | 'none'
  | 'settled'
  | 'released'
  | 'uncertain'
  | 'adjusted'
  | 'conflict'
  | 'unknown'
  | 'ignored';

/** The state of one request after a settlement. */
export interface SettledRequest {
  readonly requestId: string;
  readonly state: ReservationState | null;
  readonly effect: SettlementEffect;
  /** The cost of an API-key request beyond its hold. */
  readonly overHoldMicros: number;
  /** The part of the cost that this settlement has written off. */
  readonly writtenOffMicros: number;
}

/** Billing's record of one delegated request. */
export interface RequestRecord {
  readonly requestId: string;
  readonly state: ReservationState;
  readonly costMicros: number | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** A verdict of the admission functions; `request_id_taken`: another account or key has used the id. */
export type AdmissionVerdict = Admission['verdict'] | 'request_id_taken';
