import type { PricedTokens } from '@svc/contracts';
import { isRecord, isSet } from './json-value.ts';

/** Tokens of one request. */
export interface TokenUsage extends PricedTokens {
  /** Part of the output used for reasoning. */
  readonly reasoning?: number;
}

/** Usage reported by a provider: undefined if there is none, `implausible` if the counts cannot be true. */
export type ReportedUsage = TokenUsage | 'implausible' | undefined;

const USAGE_COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];
const DETAILS = { input: 'prompt_tokens_details', output: 'completion_tokens_details' };

/** Members of `usage` that the gateway reads. */
export const USAGE_MEMBERS: readonly string[] = [...USAGE_COUNTS, ...Object.values(DETAILS)];

/** Reads a `usage` object of the common wire format. `tokensMax` limits the sum of input and output. */
export const readUsage = (value: unknown, tokensMax: number): ReportedUsage => {
  if (!isRecord(value)) return undefined;
  const counts = USAGE_COUNTS.map((name) => value[name]).filter(isSet);
  if (!counts.every(isCount)) return 'implausible';
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = value;
  // Without a count of the output, the answer would cost nothing.
  if (!isCount(input) || (!isCount(output) && !isCount(total))) return undefined;
  const usage = { input, output: isCount(output) ? output : Number(total) - input };
  if (usage.output < 0 || usage.input + usage.output > tokensMax) return 'implausible';
  const cachedInput = partOf(value[DETAILS.input], 'cached_tokens', usage.input);
  const reasoning = partOf(value[DETAILS.output], 'reasoning_tokens', usage.output);
  return {
    ...usage,
    ...(cachedInput === 0 ? {} : { cachedInput }),
    ...(reasoning === 0 ? {} : { reasoning }),
  };
};

/** Returns a part of a count; 0 if it is missing or exceeds the whole. */
const partOf = (details: unknown, name: string, whole: number): number => {
  const part = isRecord(details) ? details[name] : undefined;
  return isCount(part) && part <= whole ? part : 0;
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
