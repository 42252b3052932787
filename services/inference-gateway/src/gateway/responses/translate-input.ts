import type { ResponseRequest } from '@svc/contracts';
import { isRecord } from '../../wire/index.ts';
import type { RawRequest } from './raw-json.ts';
import { textOf, translateContent } from './translate-content.ts';
import { Unsupported } from './unsupported.ts';

/** A message of the chat format. */
export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly object[];
  readonly [name: string]: unknown;
}

type Item = Readonly<Record<string, unknown>>;

const REFERENCE_REASON =
  'the gateway stores no items, so send each item itself. With the AI SDK, set `store: false` in `providerOptions.openai`.';

/** Translates instructions and input items to chat messages. Throws Unsupported. */
export const translateInput = ({ input, instructions }: ResponseRequest, raw: RawRequest): ChatMessage[] => {
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
