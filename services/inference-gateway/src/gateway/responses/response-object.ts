import type { ComplianceMetadata } from '@svc/contracts';
import type { TokenUsage } from '../../wire/index.ts';
import type { ResponseEcho } from './response-echo.ts';

/** Members of a response that are known before its output. */
export interface ResponseIdentity {
  /** Random part of the ids of the response and its items. */
  readonly tail: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly echo: ResponseEcho;
}

/** The state of a response, without its output. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly model: string;
  readonly usage: TokenUsage | undefined;
  readonly incompleteReason?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string };
  /** Undefined if the caller wants the standard body. */
  readonly metadata?: ComplianceMetadata | undefined;
  /** Set if the caller asked for a proof of provenance, once the response is whole. */
  readonly provenance?: string | undefined;
}

/** Formats a response as the JSON before and after its output array. */
export const responseAround = (
  { tail, createdAt, echo }: ResponseIdentity,
  state: ResponseState,
): readonly [before: string, after: string] => {
  const { status, model, usage, error, metadata, provenance, incompleteReason: reason } = state;
  const head = {
    id: `resp_${tail}`,
    object: 'response',
    created_at: createdAt,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: reason === undefined ? null : { reason },
  };
  const rest = {
    model,
    usage: usage === undefined ? null : showUsage(usage),
    ...(metadata === undefined ? {} : { extensions: { compliance_metadata: metadata, provenance } }),
  };
  return [`${JSON.stringify(head).slice(0, -1)},${echo},${JSON.stringify(rest).slice(1, -1)},"output":`, '}'];
};

const showUsage = (usage: TokenUsage): object => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cachedInput ?? 0 },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  total_tokens: usage.input + usage.output,
});
