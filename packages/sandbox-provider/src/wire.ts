import type { Directives } from './directives.ts';

/** What the sandbox answers as `system_fingerprint`. */
export const FINGERPRINT = 'fp_sandbox_1';

/** The release that an answer's `model` names: providers answer a dated variant of what was asked for. */
const MODEL_RELEASE = '2026-06-01';

/** The models that `GET /v1/models` lists; any other name is answered too. */
export const MODELS = ['sandbox-chat-1', 'sandbox-completion-1', 'sandbox-embedding-1', 'sandbox-audio-1'] as const;

/** Tokens of a request, in the common wire format. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { cached_tokens: number };
  readonly completion_tokens_details: { reasoning_tokens: number };
}

/** The usage that is reported and billed: what was counted, unless directives say otherwise. */
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

/** The model an answer names: a dated variant of the one asked for, or what `[[model=…]]` says. */
export const answeredModel = (requested: string, directives: Directives): string =>
  directives.model ?? `${requested}-${MODEL_RELEASE}`;
