import { UpstreamFailure } from '../upstream-failure.ts';
import { isRecord, isSet, parseJson, recordableName } from './json-value.ts';
import { outputBytesOf, type ReportedUsage, readUsage } from './token-usage.ts';

/**
 * Returns true for an error in a response with status 200: nested as most providers send it, or flat as older vLLM and its
 * derivatives do.
 */
export const reportsError = ({ error, object }: { readonly error?: unknown; readonly object?: unknown }): boolean =>
  (isSet(error) && error !== false) || object === 'error';

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
  /** Indexes of the choices, and of those with a finish reason. */
  readonly choices: readonly number[];
  readonly finishedChoices: readonly number[];
  readonly outputBytes: number;
  readonly hasUsage: boolean;
  readonly usage: ReportedUsage;
}

/** Counts of a stream so far. */
export interface StreamTally {
  usage: ReportedUsage;
  /** True if the usage is that of the whole response. Some providers report a running count with every chunk. */
  isUsageFinal: boolean;
  outputBytes: number;
  /** The first model that a chunk names. */
  upstreamModel: string | null;
  /** True once every choice that has begun has a finish reason. */
  isFinished: boolean;
  readonly openChoices: Set<number>;
  readonly finishedChoices: Set<number>;
}

/** Longer names are truncated. No route covers them. */
const NAME_CHARACTERS_MAX = 1_024;

export const emptyTally = (): StreamTally => ({
  usage: undefined,
  isUsageFinal: false,
  outputBytes: 0,
  upstreamModel: null,
  isFinished: false,
  openChoices: new Set(),
  finishedChoices: new Set(),
});

/** Returns true if nothing is missing from a response but its formal end. */
export const isComplete = ({ isFinished, isUsageFinal, usage }: StreamTally): boolean =>
  isFinished && isUsageFinal && typeof usage === 'object';

/**
 * Parses an event's data. Returns undefined for a value that says nothing, and for an object with neither choices nor
 * usage, such as a heartbeat. Throws UpstreamFailure: `failed` if the provider reports an error, `garbled` for other
 * invalid data.
 */
export const readChunk = (data: Buffer): Chunk | undefined => {
  const value = parseJson(data);
  if (!isSet(value)) return undefined;
  if (!isRecord(value)) throw new UpstreamFailure('garbled');
  const { id, object, created, model, choices, usage, error } = value;
  if (reportsError({ error, object })) throw new UpstreamFailure('failed');
  const common = { id, object, created, model, usage };
  // Some providers omit the empty list in the usage chunk.
  if (!isSet(choices)) return isSet(usage) || Array.isArray(choices) ? { ...common, choices: [] } : undefined;
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
  choices: indexesOf(choices),
  finishedChoices: indexesOf(choices, (choice) => typeof choice['finish_reason'] === 'string'),
  outputBytes: outputBytesOf(choices),
  hasUsage: isRecord(usage) && isSet(usage),
  usage: readUsage(usage, tokensMax),
});

/** Limit of the indexes that a digest lists. No provider generates this many choices at once. */
const CHOICES_MAX = 2_048;

/** Returns the indexes of the choices that `fits` accepts; the place of a choice without an index. */
const indexesOf = (
  choices: readonly unknown[],
  fits: (choice: Record<string, unknown>) => boolean = () => true,
): readonly number[] => {
  const indexes: number[] = [];
  for (const [place, choice] of choices.slice(0, CHOICES_MAX).entries()) {
    if (isRecord(choice) && fits(choice)) indexes.push(choiceIndex(choice, place));
  }
  return indexes;
};

/** Returns the index of a choice, or its place in the list if it has none. */
export const choiceIndex = ({ index }: Record<string, unknown>, place: number): number =>
  typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : place;

const shortValue = (value: unknown): unknown => {
  if (typeof value === 'string') return value.slice(0, NAME_CHARACTERS_MAX);
  return typeof value === 'object' ? null : value;
};

/** Adds a chunk to the tally. */
export const countChunk = (tally: StreamTally, chunk: ChunkDigest): void => {
  const { usage, choicesCount } = chunk;
  tally.outputBytes += chunk.outputBytes;
  tally.upstreamModel ??= recordableName(chunk.model);
  noteChoices(tally, chunk);
  tally.usage = usage ?? tally.usage;
  const isAtEnd = choicesCount === 0 || tally.isFinished;
  if (!isAtEnd) tally.isUsageFinal = false;
  else if (usage !== undefined) tally.isUsageFinal = true;
};

const noteChoices = (tally: StreamTally, { choices, finishedChoices }: ChunkDigest): void => {
  for (const index of finishedChoices) {
    tally.openChoices.delete(index);
    if (tally.finishedChoices.size < CHOICES_MAX) tally.finishedChoices.add(index);
  }
  for (const index of choices) {
    if (!tally.finishedChoices.has(index) && tally.openChoices.size < CHOICES_MAX) tally.openChoices.add(index);
  }
  tally.isFinished = tally.finishedChoices.size > 0 && tally.openChoices.size === 0;
};
