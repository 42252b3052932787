import type { ResponseRequest } from '@svc/contracts';

/** Members of a request that its response echoes. */
export type ResponseEcho = Readonly<Record<string, unknown>>;

/** Longer instructions or tools are not echoed: each response, and three events of a stream, would repeat them. */
const ECHO_BYTES_MAX = 64 * 1024;

/** Collects the members of a request that its response echoes. */
export const echoOf = (request: ResponseRequest): ResponseEcho => ({
  instructions: short(request.instructions, null),
  max_output_tokens: request.max_output_tokens ?? null,
  max_tool_calls: null,
  metadata: short(request.metadata, {}),
  parallel_tool_calls: request.parallel_tool_calls ?? true,
  previous_response_id: null,
  reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
  service_tier: 'default',
  store: false,
  temperature: request.temperature ?? 1,
  text: short(request.text, null) ?? { format: { type: 'text' } },
  tool_choice: short(request.tool_choice, null) ?? 'auto',
  tools: short(request.tools, null) ?? [],
  top_logprobs: 0,
  top_p: request.top_p ?? 1,
  truncation: 'disabled',
  user: short(request['user'], null),
});

const short = (value: unknown, fallback: unknown): unknown =>
  value === undefined || value === null || JSON.stringify(value).length > ECHO_BYTES_MAX ? fallback : value;
