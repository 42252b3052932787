import { UpstreamFailure } from '../upstream-failure.ts';
import { isRecord, parseRecord, recordableName } from './json-value.ts';
import { outputBytesOf } from './output-bytes.ts';
import { reportsError } from './reports-error.ts';
import { type ReportedUsage, readUsage } from './token-usage.ts';

/** A chunk of a chat or legacy completions stream. */
export interface Chunk {
  readonly id: unknown;
  readonly object: unknown;
  readonly created: unknown;
  readonly model: unknown;
  readonly choices: readonly unknown[];
  readonly usage: unknown;
}

/** The parts of a chunk that the gateway keeps. Its size is bounded, as it is cloned between threads. */
export interface ChunkDigest {
  readonly id: unknown;
  readonly object: unknown;
  readonly created: unknown;
  readonly model: unknown;
  readonly choicesCount: number;
  /** True if a choice has a finish reason. */
  readonly isFinished: boolean;
  readonly outputBytes: number;
  readonly hasUsage: boolean;
  readonly usage: ReportedUsage;
}

/** Counts of a stream so far. */
export interface StreamTally {
  usage: ReportedUsage;
  /** True if the usage is that of the whole answer. Some providers report a running count with every chunk. */
  isUsageFinal: boolean;
  outputBytes: number;
  /** The first model that a chunk names. */
  upstreamModel: string | null;
  /** True once a choice has a finish reason. */
  isFinished: boolean;
}

/** Longer names are truncated. No route covers them. */
const NAME_CHARACTERS_MAX = 1_024;

export const emptyTally = (): StreamTally => ({
  usage: undefined,
  isUsageFinal: false,
  outputBytes: 0,
  upstreamModel: null,
  isFinished: false,
});

/**
 * Parses an event's data. Returns undefined for an object with neither choices nor usage, such as a heartbeat. Throws
 * UpstreamFailure: `failed` if the provider reports an error, `garbled` for other invalid data.
 */
export const readChunk = (data: Buffer): Chunk | undefined => {
  const { id, object, created, model, choices, usage, error } = parseRecord(data);
  if (reportsError({ error, object })) throw new UpstreamFailure('failed');
  const common = { id, object, created, model, usage };
  // Some providers omit the empty list in the usage chunk.
  if (choices === undefined || choices === null) return isRecord(usage) ? { ...common, choices: [] } : undefined;
  if (!Array.isArray(choices)) throw new UpstreamFailure('garbled');
  return { ...common, choices };
};

/** Parses a chunk like `readChunk`, but throws `garbled` if there is none. */
export const parseChunk = (data: Buffer): Chunk => {
  const chunk = readChunk(data);
  if (chunk === undefined) throw new UpstreamFailure('garbled');
  return chunk;
};

/** Digests a chunk. `tokensMax` is the upper limit of plausible usage. */
export const digestChunk = ({ choices, usage, ...names }: Chunk, tokensMax: number): ChunkDigest => ({
  id: shortValue(names.id),
  object: shortValue(names.object),
  created: shortValue(names.created),
  model: shortValue(names.model),
  choicesCount: choices.length,
  isFinished: choices.some((choice) => isRecord(choice) && typeof choice['finish_reason'] === 'string'),
  outputBytes: outputBytesOf(choices),
  hasUsage: isRecord(usage),
  usage: readUsage(usage, tokensMax),
});

const shortValue = (value: unknown): unknown => {
  if (typeof value === 'string') return value.slice(0, NAME_CHARACTERS_MAX);
  return typeof value === 'object' ? null : value;
};

/** Adds a chunk to the tally. */
export const countChunk = (tally: StreamTally, chunk: ChunkDigest): void => {
  const { usage, choicesCount } = chunk;
  tally.outputBytes += chunk.outputBytes;
  tally.upstreamModel ??= recordableName(chunk.model);
  tally.isFinished ||= chunk.isFinished;
  tally.usage = usage ?? tally.usage;
  const isAtEnd = choicesCount === 0 || tally.isFinished;
  if (!isAtEnd) tally.isUsageFinal = false;
  else if (usage !== undefined) tally.isUsageFinal = true;
};
