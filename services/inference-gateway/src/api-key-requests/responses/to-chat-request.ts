import type { ResponseRequest } from '@svc/contracts';
import { isRecord, isSet } from '../../wire/index.ts';
import type { RawJson, RawRequest } from './raw-json.ts';

/** Thrown for a valid parameter of the Responses format that the gateway does not support. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
  readonly param: string;

  constructor(param: string, reason: string) {
    super(`${param} is not supported: ${reason}`);
    this.param = param;
  }
}

type Part = Readonly<Record<string, unknown>>;

const UPLOAD_REASON = 'the gateway stores no files. Send the content itself.';

/** Translates the content of a message to parts of the chat format. A string stays a string. Throws Unsupported. */
const translateContent = (content: unknown): unknown =>
  Array.isArray(content) ? content.filter(isRecord).map(toPart) : content;

const toPart = (part: Part): object => {
  if (part['file_id'] !== undefined && part['file_id'] !== null) throw new Unsupported('input', UPLOAD_REASON);
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part['text'] };
    case 'input_image':
      return { type: 'image_url', image_url: { url: part['image_url'], ...defined('detail', part['detail']) } };
    case 'input_audio':
      return { type: 'input_audio', input_audio: part['input_audio'] };
    case 'input_file':
      return toFile(part);
    default:
      throw new Unsupported(
        'input',
        `content of type ${String(part['type']).slice(0, 64)} has no counterpart in a chat.`,
      );
  }
};

const toFile = (part: Part): object => {
  const { filename, file_data } = part;
  if (typeof file_data !== 'string') throw new Unsupported('input', UPLOAD_REASON);
  return { type: 'file', file: { ...defined('filename', filename), file_data } };
};

/** Joins the text parts of a content. Throws Unsupported for a part that is neither text nor refusal. */
const textOf = (content: unknown, param: string): string => {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content
    .filter(isRecord)
    .map(({ type, text }) => {
      if (type === 'refusal') return '';
      if (typeof text === 'string') return text;
      throw new Unsupported(param, `content of type ${String(type).slice(0, 64)} must be text here.`);
    })
    .join('');
};

/** Returns the member unless its value is null or undefined. */
const defined = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  value === null || value === undefined ? {} : { [name]: value };

/** A message of the chat format. */
interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly object[];
  readonly [name: string]: unknown;
}

type Item = Readonly<Record<string, unknown>>;

const REFERENCE_REASON =
  'the gateway stores no items, so send each item itself. With the AI SDK, set `store: false` in `providerOptions.openai`.';

/** Translates instructions and input items to chat messages. Throws Unsupported. */
const translateInput = ({ input, instructions }: ResponseRequest, raw: RawRequest): ChatMessage[] => {
  const messages: ChatMessage[] = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }];
  for (const [place, item] of input.entries()) addItem(messages, item, () => raw.item(place, 'arguments')?.text);
  return messages;
};

const addItem = (messages: ChatMessage[], item: Item, argumentsText: () => string | undefined): void => {
  switch (item['type'] ?? 'message') {
    case 'message':
      messages.push(toMessage(item));
      return;
    case 'function_call':
      addCall(messages, item, argumentsText);
      return;
    case 'function_call_output':
      messages.push({ role: 'tool', tool_call_id: item['call_id'], content: textOf(item['output'], 'input') });
      return;
    case 'reasoning':
      // Reasoning of earlier turns. The chat format has no place for it.
      return;
    case 'item_reference':
      throw new Unsupported('input', `item_reference: ${REFERENCE_REASON}`);
    default:
      throw new Unsupported('input', `items of type ${String(item['type']).slice(0, 64)} belong to built-in tools.`);
  }
};

const toMessage = ({ role, content }: Item): ChatMessage => {
  if (role === 'assistant') return { role, content: textOf(content, 'input'), ...refusalIn(content) };
  // Few providers know the role `developer`, a synonym of `system`.
  const chatRole = role === 'developer' ? 'system' : String(role ?? 'user');
  return { role: chatRole, content: translateContent(content) };
};

const refusalIn = (content: unknown): { readonly refusal?: string } => {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const refusals = parts.filter(isRecord).filter(({ type }) => type === 'refusal');
  return refusals.length === 0 ? {} : { refusal: refusals.map(({ refusal }) => String(refusal)).join('') };
};

/** Merges the calls of one turn, and the text before them, into one message. */
const addCall = (
  messages: ChatMessage[],
  { call_id: id, name, arguments: args }: Item,
  argumentsText: () => string | undefined,
): void => {
  const text = typeof args === 'string' ? args : argumentsText();
  const call = { id, type: 'function', function: { name, arguments: text } };
  const last = messages.at(-1);
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    return;
  }
  messages[messages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] };
};

const CHOICES: ReadonlySet<unknown> = new Set(['auto', 'none', 'required']);

/** Translates functions and the tool choice. Throws Unsupported for built-in tools. */
const translateTools = (
  { tools, tool_choice: choice }: ResponseRequest,
  raw: RawRequest,
): Readonly<Record<string, unknown>> => ({
  ...(Array.isArray(tools) && tools.length > 0
    ? { tools: tools.map((tool, place) => toFunction(tool, () => raw.tool(place, 'parameters'))) }
    : {}),
  ...(isSet(choice) ? { tool_choice: toChoice(choice) } : {}),
});

const toFunction = (
  tool: NonNullable<ResponseRequest['tools']>[number],
  rawParameters: () => RawJson | undefined,
): object => {
  if (tool.type !== 'function') {
    throw new Unsupported('tools', `${tool.type.slice(0, 64)} is a built-in tool. Only functions are served.`);
  }
  const { name, description, parameters, strict } = tool;
  const described = { ...defined('description', description), ...defined('parameters', parameters && rawParameters()) };
  return { type: 'function', function: { name, ...described, ...defined('strict', strict) } };
};

const toChoice = (choice: ResponseRequest['tool_choice']): unknown => {
  if (CHOICES.has(choice)) return choice;
  if (isRecord(choice) && choice['type'] === 'function') {
    return { type: 'function', function: { name: choice['name'] } };
  }
  throw new Unsupported('tool_choice', 'it must be auto, none, required or a function.');
};

/** Translates the format of the text. Throws Unsupported for an unknown format. */
const translateFormat = ({ text }: ResponseRequest, raw: RawRequest): Readonly<Record<string, unknown>> => {
  const format = text?.format;
  if (format === null || format === undefined || format.type === 'text') return {};
  if (format.type === 'json_object') return { response_format: { type: 'json_object' } };
  if (format.type !== 'json_schema')
    throw new Unsupported('text.format', 'it must be text, json_object or json_schema.');
  const { name, description, strict } = format;
  const schema = raw.member('text', 'format', 'schema');
  const described = { name, ...defined('description', description), schema, ...defined('strict', strict) };
  return { response_format: { type: 'json_schema', json_schema: described } };
};

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
