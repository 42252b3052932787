import type { Admission, Payer, RequestOutcome, ReservationState } from '@svc/contracts';

/** A reported outcome of a delegated request. */
export interface Settlement {
  readonly request_id: string;
  readonly result: RequestOutcome;
}

/**
 * Effect of a settlement. `none`: the same outcome was reported before. `conflict`: a different outcome stands.
 * `adjusted`: true usage corrected an estimate. `unknown`: the request has a cost but was never admitted. `ignored`:
 * never admitted, without a cost.
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

/** State of a request after a settlement. */
export interface SettledRequest {
  readonly requestId: string;
  readonly state: ReservationState | null;
  readonly effect: SettlementEffect;
  /** Part of its cost that this settlement wrote off. */
  readonly writtenOffMicros: number;
}

/** Billing's record of one delegated request. */
export interface RequestRecord {
  readonly requestId: string;
  readonly state: ReservationState;
  readonly costMicros: number | null;
  readonly paidBy: Payer;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Details of a delegated request as reported by its gateway, with the names of their columns. */
export interface RequestDetails {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly audio_ms: number | null;
}

/** A delegated request as shown on its receipt. */
export interface SettledReservation {
  readonly requestId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly service: string;
  readonly state: ReservationState;
  readonly settledBy: 'usage' | 'estimate' | null;
  readonly costMicros: number | null;
  readonly paidBy: Payer;
  readonly createdAt: Date;
  /** Time of the latest settlement. */
  readonly endedAt: Date | null;
  /** Null until the gateway's fact arrives, which never happens if the gateway died. */
  readonly details: RequestDetails | null;
}

/** Verdict of the admission function. `request_id_taken`: another account or app has used the id. */
export type AdmissionVerdict = Admission['verdict'] | 'request_id_taken' | 'busy';
