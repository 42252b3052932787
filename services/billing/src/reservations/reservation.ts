import type { Admission, RequestOutcome, ReservationState } from '@svc/contracts';

/** How a request ended, with its id. */
export interface Settlement {
  readonly request_id: string;
  readonly result: RequestOutcome;
}

/**
 * What a settlement did. `none`: told before; `conflict`: another end is recorded already, which stays; `adjusted`: true
 * usage has corrected an estimate; `unknown`: the request was never admitted; `ignored`: it
 * was not, and nothing is known to have been spent on it.
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
  /** By how much the cost exceeds what was held for an API-key request. */
  readonly overHoldMicros: number;
}

/** What billing knows of one delegated request. */
export interface RequestRecord {
  readonly requestId: string;
  readonly state: ReservationState;
  readonly costMicros: number | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Answers of the admission functions; `request_id_taken`: another account or key has this id. */
export type AdmissionVerdict = Admission['verdict'] | 'request_id_taken';
