import { UpstreamFailure } from '../providers/index.ts';
import { isRecord, parseRecord, recordableName } from './json-value.ts';
import { outputBytesOf } from './output-bytes.ts';
import { readUsage, type TokenUsage } from './token-usage.ts';

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
  usage: TokenUsage | undefined;
  outputBytes: number;
  /** As the first chunk that names one does. */
  upstreamModel: string | null;
  /** Some choice has told why it ended. */
  isFinished: boolean;
}

/** A tally of nothing yet. */
export const emptyTally = (): StreamTally => ({
  usage: undefined,
  outputBytes: 0,
  upstreamModel: null,
  isFinished: false,
});

/** Throws UpstreamFailure: `failed` where the provider tells of an error, `garbled` where it is no chunk. */
export const parseChunk = (data: Buffer): Chunk => {
  const { id, object, created, model, choices, usage, error } = parseRecord(data);
  if (error !== undefined && error !== null) throw new UpstreamFailure('failed');
  // The flat shape of errors, as of older vLLM and of what is built on it.
  if (object === 'error') throw new UpstreamFailure('failed');
  if (!Array.isArray(choices)) throw new UpstreamFailure('garbled');
  return { id, object, created, model, choices, usage };
};

/** Adds a chunk. */
export const countChunk = (tally: StreamTally, chunk: Chunk): void => {
  tally.outputBytes += outputBytesOf(chunk.choices);
  tally.usage = readUsage(chunk.usage) ?? tally.usage;
  tally.upstreamModel ??= recordableName(chunk.model);
  tally.isFinished ||= chunk.choices.some((choice) => isRecord(choice) && typeof choice['finish_reason'] === 'string');
};
