import type { Admission, RequestOutcome, ReservationState } from '@svc/contracts';

/** A reported outcome of a request. */
export interface Settlement {
  readonly request_id: string;
  readonly result: RequestOutcome;
  /** Input and output tokens; null or absent if unknown. */
  readonly tokens?: number | null;
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
  /** Cost of an API-key request beyond its hold. */
  readonly overHoldMicros: number;
  /** Part of the cost that this settlement wrote off. */
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

/** Details of a request as reported by its gateway, with the names of their columns. */
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

/** A request as shown on its receipt. */
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
  /** Time of the latest settlement. */
  readonly endedAt: Date | null;
  /** Null until the gateway's fact arrives, which never happens if the gateway died. */
  readonly details: RequestDetails | null;
}

/** Verdict of the admission functions. `request_id_taken`: another account or key has used the id. */
export type AdmissionVerdict = Admission['verdict'] | 'request_id_taken';
