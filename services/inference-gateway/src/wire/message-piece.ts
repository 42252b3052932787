import { scanArray, scanObject } from './json-members.ts';
import { isRecord } from './json-value.ts';
import { choiceIndex } from './stream-tally.ts';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Offsets of a value in a JSON text. The end is exclusive. */
interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

/** Finds the value at a path of member names, from the object at `start`. The last member of a name counts. */
export const findValue = (bytes: Buffer, start: number, path: readonly string[]): ValueSpan | undefined => {
  let span: ValueSpan = { start, end: bytes.length };
  for (const name of path) {
    if (bytes[span.start] !== OPEN_BRACE) return undefined;
    const member = scanObject(bytes, span.start, new Set([name])).members.at(-1);
    if (member === undefined) return undefined;
    span = { start: member.valueStart, end: member.valueEnd };
  }
  return span;
};

/** Returns the elements of the list at a path, from the object at `start`; none if there is no list. */
export const findElements = (bytes: Buffer, start: number, path: readonly string[]): readonly ValueSpan[] => {
  const span = findValue(bytes, start, path);
  return span === undefined || bytes[span.start] !== OPEN_BRACKET ? [] : scanArray(bytes, span.start);
};

/** Returns the offset of the object that a JSON text consists of. */
export const rootStart = (bytes: Buffer): number => scanObject(bytes, 0, new Set()).open;

/** Returns a value as it is written: numbers, order and repeated members stay as they are. */
export const textOfValue = (bytes: Buffer, { start, end }: ValueSpan): string => bytes.toString('utf8', start, end);

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

/** Place of a call in a response: the choice, and the call within its message. */
interface CallPlace {
  readonly choice: number;
  /** Undefined for the only call of the legacy member `function_call`. */
  readonly call: number | undefined;
}

/** Returns the arguments of a call as text, as the provider wrote them; undefined if it sent none. */
export type ReadArguments = (value: unknown, place: CallPlace) => string | undefined;

/**
 * Creates a reader of arguments. Some providers send an object instead of its text. The text is taken from the response, as
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

/** A function call, or a piece of one. */
export interface CalledPiece {
  /** As the provider sends it: not every one does. */
  readonly index: unknown;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The generated parts of a message, or of a piece of one. Empty where it has none. */
export interface MessagePiece {
  /** Index of the choice. */
  readonly choice: number;
  readonly content: string;
  readonly refusal: string;
  readonly calls: readonly CalledPiece[];
}

type Members = Readonly<Record<string, unknown>>;

/** Reads the messages of a response, whose calls are in order. */
export const readMessages = (choices: readonly unknown[]): MessagePiece[] =>
  readPieces(choices, 'message', (call, index) => ({ ...readCall(call), index }));

/** Reads the pieces of messages in a chunk. */
export const readDeltas = (choices: readonly unknown[]): MessagePiece[] => readPieces(choices, 'delta', readCall);

const readPieces = (
  choices: readonly unknown[],
  part: 'message' | 'delta',
  read: (call: Members, place: number) => CalledPiece,
): MessagePiece[] => {
  const pieces: MessagePiece[] = [];
  for (const [place, choice] of choices.entries()) {
    if (!isRecord(choice)) continue;
    const message = isRecord(choice[part]) ? choice[part] : {};
    const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isRecord) : [];
    pieces.push({
      choice: choiceIndex(choice, place),
      content: contentText(message['content']) ?? '',
      refusal: textOf(message['refusal']),
      calls: calls.map(read),
    });
  }
  return pieces;
};

/** Custom tools take a text as their input. */
const readCall = ({ index, id, function: called, custom }: Members): CalledPiece => {
  const { name, arguments: args, input }: Members = isRecord(called) ? called : isRecord(custom) ? custom : {};
  return { index, id: textOf(id), name: textOf(name), arguments: argumentsOf(args ?? input) };
};

/** Some providers send an object instead of its text. Its canonical form survives a client that parses and prints. */
const argumentsOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : canonicalJson(value);

/** Prints a parsed value in the form of RFC 8785, which sorts members by the UTF-16 code units of their names. */
const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
