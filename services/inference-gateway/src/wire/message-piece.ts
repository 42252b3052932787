import { isRecord } from './json-value.ts';
import { contentText } from './message-text.ts';
import { choiceIndex } from './stream-tally.ts';

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

/** Reads the messages of an answer, whose calls are in order. */
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
