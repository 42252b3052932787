import type { ChatCompletion } from '../inference/index.ts';
import { accepts, integer, object } from '../shape.ts';
import type { FinishReason, ResponseMetadata, Usage } from './specification.ts';

const FINISH_REASONS: Readonly<Record<string, FinishReason['unified']>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
};

export const toFinishReason = (raw: string | null | undefined): FinishReason => ({
  unified: FINISH_REASONS[raw ?? ''] ?? 'other',
  raw: raw ?? undefined,
});

const promptDetailsShape = object({ prompt_tokens_details: object({ cached_tokens: integer(0) }) });
const completionDetailsShape = object({ completion_tokens_details: object({ reasoning_tokens: integer(0) }) });

export const toUsage = (usage: ChatCompletion['usage']): Usage => {
  const input = usage?.prompt_tokens;
  const output = usage?.completion_tokens;
  const cached = accepts(promptDetailsShape, usage) ? usage.prompt_tokens_details.cached_tokens : undefined;
  const reasoning = accepts(completionDetailsShape, usage)
    ? usage.completion_tokens_details.reasoning_tokens
    : undefined;
  return {
    inputTokens: { total: input, noCache: without(input, cached), cacheRead: cached, cacheWrite: undefined },
    outputTokens: { total: output, text: without(output, reasoning), reasoning },
  };
};

const without = (total: number | undefined, part: number | undefined): number | undefined =>
  total === undefined ? undefined : total - (part ?? 0);

export const toResponseMetadata = ({
  id,
  created,
  model,
}: Pick<ChatCompletion, 'id' | 'created' | 'model'>): ResponseMetadata => ({
  id,
  timestamp: new Date(created * 1000),
  modelId: model,
});

/** Returns the thoughts of models that show them. */
export const reasoningOf = (message: Readonly<Record<string, unknown>>): string => {
  const { reasoning_content: reasoning } = message;
  return typeof reasoning === 'string' ? reasoning : '';
};
