import { UpstreamFailure } from '../upstream-failure/index.ts';
import { isRecord, parseRecord, recordableName } from './json-value.ts';
import { outputBytesOf } from './output-bytes.ts';
import { reportsError } from './reports-error.ts';
import { type ReportedUsage, readUsage } from './token-usage.ts';

/** A chunk of a stream, of chat or legacy completions. */
export interface Chunk {
  readonly id: unknown;
  readonly object: unknown;
  readonly created: unknown;
  readonly model: unknown;
  readonly choices: readonly unknown[];
  readonly usage: unknown;
}

/** Everything that the gateway keeps of a chunk. It is small, however large the chunk is: it is cloned between threads. */
export interface ChunkDigest {
  readonly id: unknown;
  readonly object: unknown;
  readonly created: unknown;
  readonly model: unknown;
  readonly choicesCount: number;
  /** Some choice says why it ended. */
  readonly isFinished: boolean;
  readonly outputBytes: number;
  readonly hasUsage: boolean;
  readonly usage: ReportedUsage;
}

/** The counts of a stream so far. */
export interface StreamTally {
  usage: ReportedUsage;
  /** The usage is that of the whole answer: some providers report a running count with every chunk. */
  isUsageFinal: boolean;
  outputBytes: number;
  /** As the first chunk that names one does. */
  upstreamModel: string | null;
  /** Some choice has said why it ended. */
  isFinished: boolean;
}

/** Longer names are cut: no route covers them. */
const NAME_CHARACTERS_MAX = 1_024;

/** A tally of nothing yet. */
export const emptyTally = (): StreamTally => ({
  usage: undefined,
  isUsageFinal: false,
  outputBytes: 0,
  upstreamModel: null,
  isFinished: false,
});

/**
 * Reads an event's data. Returns undefined for an object with neither choices nor usage, such as a sign of life. Throws
 * UpstreamFailure: `failed` if the provider reports an error, `garbled` for anything that no stream may contain.
 */
export const readChunk = (data: Buffer): Chunk | undefined => {
  const { id, object, created, model, choices, usage, error } = parseRecord(data);
  if (reportsError({ error, object })) throw new UpstreamFailure('failed');
  const common = { id, object, created, model, usage };
  // Some providers leave the empty list out where they report their usage.
  if (choices === undefined || choices === null) return isRecord(usage) ? { ...common, choices: [] } : undefined;
  if (!Array.isArray(choices)) throw new UpstreamFailure('garbled');
  return { ...common, choices };
};

/** Reads a chunk as `readChunk` does, but throws `garbled` for everything else. */
export const parseChunk = (data: Buffer): Chunk => {
  const chunk = readChunk(data);
  if (chunk === undefined) throw new UpstreamFailure('garbled');
  return chunk;
};

/** Digests a chunk. `tokensMax` bounds the usage that is believed. */
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

/** Adds a chunk. */
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
