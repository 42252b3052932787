import type { ComplianceMetadata, ResponseRequest } from '@svc/contracts';
import type { TokenUsage } from '../../wire/index.ts';
import { compactJson, RawJson, type RawRequest, writeJson } from './raw-json.ts';

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

/** Members of a request that its response echoes, as JSON without the braces. */
export type ResponseEcho = string;

/** Longer instructions or tools are not echoed: each response, and three events of a stream, would repeat them. */
const ECHO_BYTES_MAX = 64 * 1024;

/** Collects the members of a request that its response echoes, as the caller wrote them. */
export const echoOf = (request: ResponseRequest, raw: RawRequest): ResponseEcho => {
  const given = (name: string, fallback: unknown): unknown => {
    const value = request[name] === undefined || request[name] === null ? undefined : raw.member(name);
    if (value === undefined || value.text.length > ECHO_BYTES_MAX) return fallback;
    return new RawJson(compactJson(value.text));
  };
  const members = {
    instructions: given('instructions', null),
    max_output_tokens: given('max_output_tokens', null),
    max_tool_calls: null,
    metadata: given('metadata', {}),
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    service_tier: 'default',
    store: false,
    temperature: given('temperature', 1),
    text: given('text', { format: { type: 'text' } }),
    tool_choice: given('tool_choice', 'auto'),
    tools: given('tools', []),
    top_logprobs: 0,
    top_p: given('top_p', 1),
    truncation: 'disabled',
    user: given('user', null),
  };
  return writeJson(members).slice(1, -1);
};
