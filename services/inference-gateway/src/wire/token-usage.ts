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
  // Embeddings have no output.
  const output = value['completion_tokens'] ?? 0;
  return isCount(input) && isCount(output) ? { input, output } : undefined;
};

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
