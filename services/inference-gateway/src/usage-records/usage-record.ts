import type { RequestOutcome, SpentLease, UsageFact } from '@svc/contracts';
import type { Settlement } from '../billing-client.ts';
import type { RouteService } from '../provider-routes/index.ts';

/** Properties of a request that are known before it is forwarded. */
export interface RequestIdentity {
  readonly requestId: string;
  readonly kind: 'delegated' | 'api_key';
  readonly userId: string;
  /** App of a delegated request. */
  readonly clientId: string | null;
  /** API key of a gateway request. */
  readonly keyId: string | null;
  readonly service: RouteService;
  /** The caller's name of the model. */
  readonly model: string;
  readonly ingressRegion: string;
  readonly isStreamed: boolean;
  readonly startedAtMs: number;
}

/** Route that served a request, or was the last to fail. */
export interface ServedBy {
  readonly routeId: string;
  readonly provider: string;
  readonly dataZone: string;
  /** Reference of the route's certification; null for a route without one. */
  readonly certification: string | null;
}

/** Outcome of a request, with its usage and cost. */
export interface RequestEnd {
  readonly servedBy: ServedBy | null;
  /** Model named by the response. */
  readonly upstreamModel: string | null;
  readonly upstreamRequestId: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Part of the input that the provider read from its cache. */
  readonly cachedInputTokens: number | null;
  /** Part of the output used for reasoning. */
  readonly reasoningTokens: number | null;
  readonly audioMs: number | null;
  /** True if the provider reported no usage and the gateway estimated it. */
  readonly isEstimated: boolean;
  readonly outcome: RequestOutcome['outcome'];
  /** Cost if settled. If uncertain, the cost that will be charged unless the actual outcome becomes known. */
  readonly costMicros: number;
  /** HTTP status of the response. */
  readonly status: number;
  readonly firstEventMs: number | null;
  readonly finishedAtMs: number;
}

/** Metadata of one admitted request, without content. */
export interface UsageRecord extends RequestIdentity, RequestEnd {
  /** Part of a lease that an API-key request held; null for a delegated one. */
  readonly lease: SpentLease | null;
}

/** Returns the end of a request for which nothing was generated. */
export const releasedEnd = (status: number, finishedAtMs: number): RequestEnd => ({
  servedBy: null,
  upstreamModel: null,
  upstreamRequestId: null,
  inputTokens: null,
  outputTokens: null,
  cachedInputTokens: null,
  reasoningTokens: null,
  audioMs: null,
  isEstimated: false,
  outcome: 'released',
  costMicros: 0,
  status,
  firstEventMs: null,
  finishedAtMs,
});

/** Maps a record to the fact for billing. */
export const toUsageFact = (record: UsageRecord): UsageFact => ({
  request_id: record.requestId,
  kind: record.kind,
  svc_user_id: record.userId,
  client_id: record.clientId,
  key_id: record.keyId,
  service: record.service,
  outcome: record.outcome,
  cost_micros: record.costMicros,
  input_tokens: record.inputTokens,
  output_tokens: record.outputTokens,
  cached_input_tokens: record.cachedInputTokens,
  reasoning_tokens: record.reasoningTokens,
  audio_ms: record.audioMs,
  ...(record.lease === null ? {} : { lease: record.lease }),
  started_at: new Date(record.startedAtMs).toISOString(),
  finished_at: new Date(record.finishedAtMs).toISOString(),
});

/** Maps a record to billing's settlement by call. */
export const toSettlement = ({ lease, keyId, ...record }: UsageRecord): Settlement => ({
  request_id: record.requestId,
  svc_user_id: record.userId,
  result:
    record.outcome === 'settled' ? { outcome: 'settled', cost_micros: record.costMicros } : { outcome: record.outcome },
  ...(lease === null || keyId === null
    ? {}
    : {
        key: {
          ...lease,
          key_id: keyId,
          started_at: new Date(record.startedAtMs).toISOString(),
          estimate_micros: record.costMicros,
        },
      }),
});
