import { UpstreamFailure } from '../upstream-failure/index.ts';
import { isRecord, parseRecord, recordableName } from './json-value.ts';
import { outputBytesOf } from './output-bytes.ts';
import { tellsError } from './tells-error.ts';
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

/** What a stream has told so far. */
export interface StreamTally {
  readonly tokensMax: number;
  usage: ReportedUsage;
  /** The usage is that of the whole answer: some providers tell a running count with every chunk. */
  isUsageFinal: boolean;
  outputBytes: number;
  /** As the first chunk that names one does. */
  upstreamModel: string | null;
  /** Some choice has told why it ended. */
  isFinished: boolean;
}

/** A tally of nothing yet; `tokensMax` bounds the usage that is believed. */
export const emptyTally = (tokensMax: number): StreamTally => ({
  tokensMax,
  usage: undefined,
  isUsageFinal: false,
  outputBytes: 0,
  upstreamModel: null,
  isFinished: false,
});

/**
 * Reads an event's data. Undefined for an object with neither choices nor usage, such as a sign of life. Throws
 * UpstreamFailure: `failed` where the provider tells of an error, `garbled` where it is nothing that a stream may contain.
 */
export const readChunk = (data: Buffer): Chunk | undefined => {
  const { id, object, created, model, choices, usage, error } = parseRecord(data);
  if (tellsError({ error, object })) throw new UpstreamFailure('failed');
  const common = { id, object, created, model, usage };
  // Some providers leave the empty list out where they tell their usage.
  if (choices === undefined || choices === null) return isRecord(usage) ? { ...common, choices: [] } : undefined;
  if (!Array.isArray(choices)) throw new UpstreamFailure('garbled');
  return { ...common, choices };
};

/** As `readChunk`, where nothing but a chunk will do: anything else is `garbled`. */
export const parseChunk = (data: Buffer): Chunk => {
  const chunk = readChunk(data);
  if (chunk === undefined) throw new UpstreamFailure('garbled');
  return chunk;
};

/** Adds a chunk. */
export const countChunk = (tally: StreamTally, chunk: Chunk): void => {
  tally.outputBytes += outputBytesOf(chunk.choices);
  tally.upstreamModel ??= recordableName(chunk.model);
  tally.isFinished ||= chunk.choices.some((choice) => isRecord(choice) && typeof choice['finish_reason'] === 'string');
  const usage = readUsage(chunk.usage, tally.tokensMax);
  tally.usage = usage ?? tally.usage;
  const isAtEnd = chunk.choices.length === 0 || tally.isFinished;
  if (!isAtEnd) tally.isUsageFinal = false;
  else if (usage !== undefined) tally.isUsageFinal = true;
};
