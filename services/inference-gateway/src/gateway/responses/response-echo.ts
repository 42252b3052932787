import type { ResponseRequest } from '@svc/contracts';
import { compactJson, RawJson, type RawRequest, writeJson } from './raw-json.ts';

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
