import type { ResponseRequest } from '@svc/contracts';
import { isSet } from '../../wire/index.ts';
import type { RawRequest } from './raw-json.ts';
import { defined } from './translate-content.ts';
import { type ChatMessage, translateInput } from './translate-input.ts';
import { translateFormat, translateTools } from './translate-tools.ts';
import { Unsupported } from './unsupported.ts';

/** Members with the same name and meaning in a chat request. */
const KEPT = [
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
] as const;

const STORES_NOTHING = 'the gateway stores nothing.';

/** Refused parameters. `harmless` values mean the same as omitting the parameter. */
const REFUSED: Readonly<Record<string, { readonly harmless: readonly unknown[]; readonly reason: string }>> = {
  store: { harmless: [false], reason: STORES_NOTHING },
  previous_response_id: { harmless: [], reason: `${STORES_NOTHING} Send the earlier turns as items of \`input\`.` },
  conversation: { harmless: [], reason: STORES_NOTHING },
  prompt: { harmless: [], reason: STORES_NOTHING },
  background: { harmless: [false], reason: 'requests are answered at once.' },
  truncation: { harmless: ['disabled'], reason: 'the input reaches the model whole.' },
  top_logprobs: { harmless: [0], reason: 'probabilities are not reported.' },
};

/** Translates a request of the Responses format to a chat request. Throws Unsupported. */
export const toChatRequest = (request: ResponseRequest, raw: RawRequest): Readonly<Record<string, unknown>> => {
  refuseUnsupported(request);
  const messages: readonly ChatMessage[] = translateInput(request, raw);
  return {
    model: request.model,
    messages,
    ...translateTools(request, raw),
    ...translateFormat(request, raw),
    ...defined('max_completion_tokens', request.max_output_tokens && raw.member('max_output_tokens')),
    ...defined('reasoning_effort', request.reasoning?.effort),
    ...defined('verbosity', request.text?.['verbosity']),
    ...Object.assign({}, ...KEPT.map((name) => (isSet(request[name]) ? defined(name, raw.member(name)) : {}))),
    ...(request.stream === true ? { stream: true } : {}),
  };
};

const refuseUnsupported = (request: ResponseRequest): void => {
  for (const [name, { harmless, reason }] of Object.entries(REFUSED)) {
    const value = request[name];
    if (!isSet(value) || harmless.includes(value)) continue;
    throw new Unsupported(name, reason);
  }
};
