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

/** Details of a request as its gateway reported them, in the names of their columns. */
export interface RequestDetails {
  readonly service: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly audio_ms: number | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly data_zone: string | null;
  readonly certification: string | null;
  readonly upstream_request_id: string | null;
}

/** A request as its receipt shows it. */
export interface SettledReservation {
  readonly requestId: string;
  readonly kind: 'delegated' | 'api_key';
  readonly userId: string;
  readonly clientId: string | null;
  readonly keyId: string | null;
  readonly service: string | null;
  readonly state: ReservationState;
  readonly settledBy: 'usage' | 'estimate' | null;
  readonly costMicros: number | null;
  readonly createdAt: Date;
  /** Time of the settlement that stands. */
  readonly endedAt: Date | null;
  /** Null until the gateway's fact arrives, and for ever if its gateway died. */
  readonly details: RequestDetails | null;
}

/** A verdict of the admission functions; `request_id_taken`: another account or key has used the id. */
export type AdmissionVerdict = Admission['verdict'] | 'request_id_taken';
