import { z } from 'zod';
import type { UsageRecord } from './usage-record.ts';

const count = z.int().min(0);
const amount = count.nullable();
const text = z.string();

/** A usage record as the journal stores it, under its own names. A member that is missing here does not compile. */
const recordSchema: z.ZodType<UsageRecord> = z.object({
  requestId: text,
  kind: z.enum(['delegated', 'api_key']),
  userId: text,
  clientId: text.nullable(),
  keyId: text.nullable(),
  service: z.enum(['chat', 'completions', 'embeddings', 'audio_transcription']),
  model: text,
  ingressRegion: text,
  isStreamed: z.boolean(),
  startedAtMs: count,
  servedBy: z.object({ routeId: text, provider: text, dataZone: text, certification: text.nullable() }).nullable(),
  upstreamModel: text.nullable(),
  upstreamRequestId: text.nullable(),
  inputTokens: amount,
  outputTokens: amount,
  cachedInputTokens: amount,
  reasoningTokens: amount,
  audioMs: amount,
  isEstimated: z.boolean(),
  outcome: z.enum(['settled', 'released', 'uncertain']),
  costMicros: count,
  status: count,
  firstEventMs: z.int().nullable(),
  finishedAtMs: count,
  lease: z.object({ lease_id: text, hold_micros: count }).nullable(),
});

/**
 * Version of a line. A member added once a release is tagged has a default, so that older lines can still be read. A change of
 * meaning increments the version.
 */
const VERSION = 1;

/** Serializes a record as a line of the journal, which contains one usage record. */
export const toJournalLine = (record: UsageRecord): string => `{"v":${VERSION},${JSON.stringify(record).slice(1)}`;

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
  if (version !== undefined && version > VERSION) throw new UnknownJournalVersion(`journal version ${version}`);
  return version === VERSION ? recordSchema.safeParse(value).data : undefined;
};

const versionSchema = z.object({ v: z.int() });

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
