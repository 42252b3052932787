import { isRecord } from './json-value.ts';

/** Tokens of one request. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
}

/** The usage that a provider reports: undefined if it reports none, `implausible` if its counts cannot be true. */
export type ReportedUsage = TokenUsage | 'implausible' | undefined;

/** Members of `usage` that are read. */
export const USAGE_COUNTS: readonly string[] = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

/** Reads a `usage` object of the common wire format. `tokensMax` bounds the sum of input and output. */
export const readUsage = (value: unknown, tokensMax: number): ReportedUsage => {
  if (!isRecord(value)) return undefined;
  const counts = USAGE_COUNTS.map((name) => value[name]).filter((count) => count !== undefined && count !== null);
  if (!counts.every(isCount)) return 'implausible';
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = value;
  if (!isCount(input)) return undefined;
  const usage = { input, output: isCount(output) ? output : outputOf(total, input) };
  return usage.input + usage.output > tokensMax ? 'implausible' : usage;
};

/** Returns the output that the total implies. Embeddings have none. */
const outputOf = (total: unknown, input: number): number => (isCount(total) ? Math.max(0, total - input) : 0);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
