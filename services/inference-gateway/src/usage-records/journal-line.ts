import { z } from 'zod';
import type { UsageRecord } from './usage-record.ts';

const count = z.int().min(0);
const amount = count.nullable();
const text = z.string();

/**
 * A line of the usage journal, which contains one usage record. A member added once a release is tagged has a default, so that
 * older lines can still be read. A change of meaning increments the version.
 */
const journalLineSchema = z.object({
  v: z.literal(1),
  request_id: text,
  kind: z.enum(['delegated', 'api_key']),
  svc_user_id: text,
  client_id: text.nullable(),
  key_id: text.nullable(),
  service: z.enum(['chat', 'completions', 'embeddings', 'audio_transcription']),
  model: text,
  ingress_region: text,
  streamed: z.boolean(),
  started_at_ms: count,
  served_by: z.object({ route_id: text, provider: text, data_zone: text, certification: text.nullable() }).nullable(),
  upstream_model: text.nullable(),
  upstream_request_id: text.nullable(),
  input_tokens: amount,
  output_tokens: amount,
  cached_input_tokens: amount,
  reasoning_tokens: amount,
  audio_ms: amount,
  is_estimated: z.boolean(),
  outcome: z.enum(['settled', 'released', 'uncertain']),
  cost_micros: count,
  status: count,
  first_event_ms: z.int().nullable(),
  finished_at_ms: count,
  lease: z.object({ lease_id: text, hold_micros: count }).nullable(),
});

type JournalLine = z.infer<typeof journalLineSchema>;

/** Serializes a record as a line of the journal. */
export const toJournalLine = (record: UsageRecord): string => {
  const { servedBy } = record;
  const line: JournalLine = {
    v: 1,
    request_id: record.requestId,
    kind: record.kind,
    svc_user_id: record.userId,
    client_id: record.clientId,
    key_id: record.keyId,
    service: record.service,
    model: record.model,
    ingress_region: record.ingressRegion,
    streamed: record.isStreamed,
    started_at_ms: record.startedAtMs,
    served_by: servedBy && {
      route_id: servedBy.routeId,
      provider: servedBy.provider,
      data_zone: servedBy.dataZone,
      certification: servedBy.certification,
    },
    upstream_model: record.upstreamModel,
    upstream_request_id: record.upstreamRequestId,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    cached_input_tokens: record.cachedInputTokens,
    reasoning_tokens: record.reasoningTokens,
    audio_ms: record.audioMs,
    is_estimated: record.isEstimated,
    outcome: record.outcome,
    cost_micros: record.costMicros,
    status: record.status,
    first_event_ms: record.firstEventMs,
    finished_at_ms: record.finishedAtMs,
    lease: record.lease,
  };
  return JSON.stringify(line);
};

/** Thrown for a line written by a later release. */
export class UnknownJournalVersion extends Error {
  override readonly name = 'UnknownJournalVersion';
}

/**
 * Parses a line of the journal. Returns undefined for a damaged line, such as the one being written when its process died.
 * Throws UnknownJournalVersion.
 */
export const readJournalLine = (text: string): UsageRecord | undefined => {
  const value = parseJson(text);
  const version = versionSchema.safeParse(value).data?.v;
  if (version !== undefined && version > 1) throw new UnknownJournalVersion(`journal version ${version}`);
  const { data: line } = journalLineSchema.safeParse(value);
  return line && toRecord(line);
};

const versionSchema = z.object({ v: z.int() });

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const toRecord = ({ served_by: servedBy, ...line }: JournalLine): UsageRecord => ({
  requestId: line.request_id,
  kind: line.kind,
  userId: line.svc_user_id,
  clientId: line.client_id,
  keyId: line.key_id,
  service: line.service,
  model: line.model,
  ingressRegion: line.ingress_region,
  isStreamed: line.streamed,
  startedAtMs: line.started_at_ms,
  servedBy: servedBy && {
    routeId: servedBy.route_id,
    provider: servedBy.provider,
    dataZone: servedBy.data_zone,
    certification: servedBy.certification,
  },
  upstreamModel: line.upstream_model,
  upstreamRequestId: line.upstream_request_id,
  inputTokens: line.input_tokens,
  outputTokens: line.output_tokens,
  cachedInputTokens: line.cached_input_tokens,
  reasoningTokens: line.reasoning_tokens,
  audioMs: line.audio_ms,
  isEstimated: line.is_estimated,
  outcome: line.outcome,
  costMicros: line.cost_micros,
  status: line.status,
  firstEventMs: line.first_event_ms,
  finishedAtMs: line.finished_at_ms,
  lease: line.lease,
});
