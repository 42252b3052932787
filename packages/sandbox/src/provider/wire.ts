import type { Directives } from './directives.ts';

/** The sandbox's `system_fingerprint`. */
export const FINGERPRINT = 'fp_sandbox_1';

/** Release in the `model` of responses: providers return a dated variant of the requested name. */
const MODEL_RELEASE = '2026-06-01';

/** Models listed by `GET /v1/models`; any other name works too. */
export const MODELS = ['sandbox-chat-1', 'sandbox-completion-1', 'sandbox-embedding-1', 'sandbox-audio-1'] as const;

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { cached_tokens: number };
  readonly completion_tokens_details: { reasoning_tokens: number };
}

/** Returns the reported and billed usage: the counted tokens, unless directives override them. */
export const usageOf = (input: number, output: number, directives: Directives): Usage => {
  const prompt_tokens = directives.prompt_tokens ?? input;
  const completion_tokens = directives.completion_tokens ?? output;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
};

/** Returns the model of a response: a dated variant of the requested one, or the value of `[[model=…]]`. */
export const answeredModel = (requested: string, directives: Directives): string =>
  directives.model ?? `${requested}-${MODEL_RELEASE}`;
