import { isRecord } from './json-value.ts';

/** Tokens of one request. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
}

/** Far beyond any context window: a larger count is a fault of the provider's, not something to charge. */
const TOKENS_MAX = 1_000_000_000;

/** Reads a `usage` object of the common wire format; undefined where there is none or it makes no sense. */
export const readUsage = (value: unknown): TokenUsage | undefined => {
  if (!isRecord(value)) return undefined;
  const input = value['prompt_tokens'];
  if (!isCount(input)) return undefined;
  const output = value['completion_tokens'] ?? outputOf(value['total_tokens'], input);
  return isCount(output) ? { input, output } : undefined;
};

/** What the total says of an output that is not told. Embeddings have none. */
const outputOf = (total: unknown, input: number): number => (isCount(total) ? Math.max(0, total - input) : 0);

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
