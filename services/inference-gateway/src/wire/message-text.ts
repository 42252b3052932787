import { isRecord } from './json-value.ts';
import { findElements, findValue, rootStart, textOfValue, type ValueSpan } from './raw-value.ts';

/** Returns the text of a message's content. Some providers send it in parts, of which only text is shown. */
export const contentText = (content: unknown): string | null => {
  if (typeof content === 'string') return content;
  const parts = isRecord(content) ? [content] : content;
  if (!Array.isArray(parts)) return null;
  return parts
    .filter(isRecord)
    .map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : ''))
    .join('');
};

/** Place of a call in an answer: the choice, and the call within its message. */
export interface CallPlace {
  readonly choice: number;
  /** Undefined for the only call of the legacy member `function_call`. */
  readonly call: number | undefined;
}

/** Returns the arguments of a call as text, as the provider wrote them; undefined if it sent none. */
export type ReadArguments = (value: unknown, place: CallPlace) => string | undefined;

/**
 * Creates a reader of arguments. Some providers send an object instead of its text. The text is taken from the answer, as
 * parsing and printing it would change numbers and order.
 */
export const createArgumentsReader = (bytes: Buffer, part: 'message' | 'delta'): ReadArguments => {
  let choices: readonly ValueSpan[] | undefined;
  const calls = new Map<number, readonly ValueSpan[]>();
  const choiceStart = (choice: number): number => {
    choices ??= findElements(bytes, rootStart(bytes), ['choices']);
    return choices[choice]?.start ?? bytes.length;
  };
  const callsOf = (choice: number): readonly ValueSpan[] => {
    const found = calls.get(choice) ?? findElements(bytes, choiceStart(choice), [part, 'tool_calls']);
    calls.set(choice, found);
    return found;
  };
  const find = ({ choice, call }: CallPlace): ValueSpan | undefined => {
    if (call === undefined) return findValue(bytes, choiceStart(choice), [part, 'function_call', 'arguments']);
    return findValue(bytes, callsOf(choice)[call]?.start ?? bytes.length, ['function', 'arguments']);
  };
  return (value, place) => {
    if (typeof value === 'string') return value;
    const text = value === undefined || value === null ? undefined : find(place);
    return text && textOfValue(bytes, text);
  };
};
