import type { RequestOutcome, UsageFact } from '@svc/contracts';
import type { RouteService } from '../routes/index.ts';

/** Who made a request, and when: known before it is forwarded. */
export interface RequestIdentity {
  readonly requestId: string;
  readonly kind: 'delegated' | 'api_key';
  readonly userId: string;
  /** The app, of a delegated request. */
  readonly clientId: string | null;
  /** The API key, of a gateway request. */
  readonly keyId: string | null;
  readonly service: RouteService;
  /** As the caller named it. */
  readonly model: string;
  readonly ingressRegion: string;
  readonly isStreamed: boolean;
  readonly startedAtMs: number;
}

/** What served a request, or failed to. */
export interface ServedBy {
  readonly routeId: string;
  readonly provider: string;
  readonly dataZone: string;
  /** Reference of the route's certification; null in journals of the release before. */
  readonly certification: string | null;
}

/** What became of a request. */
export interface RequestEnd {
  readonly servedBy: ServedBy | null;
  /** As the answer named it. */
  readonly upstreamModel: string | null;
  readonly upstreamRequestId: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** The part of the input that the provider read from its cache. */
  readonly cachedInputTokens: number | null;
  /** The part of the output that the model thought with. */
  readonly reasoningTokens: number | null;
  readonly audioMs: number | null;
  /** The provider did not say: the counts are the gateway's own guess. */
  readonly isEstimated: boolean;
  readonly outcome: RequestOutcome['outcome'];
  /** The cost when settled; when uncertain, what it will be settled at unless the truth is learnt. */
  readonly costMicros: number;
  /** The HTTP status of the answer. */
  readonly status: number;
  readonly firstEventMs: number | null;
  readonly finishedAtMs: number;
}

/** Metadata of one admitted request: never its content. */
export interface UsageRecord extends RequestIdentity, RequestEnd {}

/** An end at which nothing is known but that nothing was generated. */
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

/** What billing is told of a record. */
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
  ...(record.kind === 'api_key' ? { served_by: toServedBy(record) } : {}),
  finished_at: new Date(record.finishedAtMs).toISOString(),
});

const toServedBy = ({ servedBy, upstreamModel, upstreamRequestId }: UsageRecord): UsageFact['served_by'] =>
  servedBy && {
    provider: servedBy.provider,
    model: upstreamModel,
    data_zone: servedBy.dataZone,
    certification: servedBy.certification,
    upstream_request_id: upstreamRequestId,
  };

/** How a record ended, as billing's settlements put it. */
export const toOutcome = (end: RequestEnd): RequestOutcome =>
  end.outcome === 'settled' ? { outcome: 'settled', cost_micros: end.costMicros } : { outcome: end.outcome };
