import { z } from 'zod';

/** Tokens of one request. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
}

/** Far beyond any context window: a larger count is a fault of the provider's, not something to charge. */
const TOKENS_MAX = 1_000_000_000;

const count = z.int().min(0).max(TOKENS_MAX);
const usageSchema = z.object({ prompt_tokens: count, completion_tokens: count.nullish() });

/** Reads a `usage` object of the common wire format; undefined where there is none or it makes no sense. */
export const readUsage = (value: unknown): TokenUsage | undefined => {
  const parsed = usageSchema.safeParse(value);
  if (!parsed.success) return undefined;
  return { input: parsed.data.prompt_tokens, output: parsed.data.completion_tokens ?? 0 };
};
