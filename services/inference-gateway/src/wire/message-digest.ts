import { createHash, type Hash, hash } from 'node:crypto';
import { UpstreamFailure } from '../upstream-failure.ts';
import type { CalledPiece, MessagePiece } from './message-piece.ts';

/** Tool calls of one choice that have begun. Plain data, as a worker may continue it. */
interface ChoiceCalls {
  readonly begun: Set<number>;
  readonly byId: Map<string, number>;
  last: number;
  next: number;
}

/** Tool calls of a stream so far, by choice. */
export type CallIndexes = Map<number, ChoiceCalls>;

/** The members of a call's piece that tell which call it belongs to. */
interface CallPiece {
  readonly index: unknown;
  /** Undefined if it is empty. */
  readonly id: string | undefined;
  readonly name: string | undefined;
}

interface PlacedCall {
  readonly index: number;
  /** True for the first piece of a call. */
  readonly isNew: boolean;
}

/** Limit of choices, and of calls in one choice. No model makes this many. */
const COUNT_MAX = 1_024;

/**
 * Returns the index of a call's piece: the provider's, else that of its id, else that of the previous piece. A new id or a
 * name begins the next call. Throws UpstreamFailure, `unusable`, beyond the limit of calls.
 */
export const placeCall = (indexes: CallIndexes, choice: number, piece: CallPiece): PlacedCall => {
  const calls = indexes.get(choice) ?? { begun: new Set(), byId: new Map(), last: 0, next: 0 };
  indexes.set(choice, calls);
  const index = indexOf(calls, piece);
  if (index >= COUNT_MAX || indexes.size > COUNT_MAX) throw new UpstreamFailure('unusable');
  const isNew = !calls.begun.has(index);
  calls.begun.add(index);
  if (piece.id !== undefined) calls.byId.set(piece.id, index);
  calls.last = index;
  calls.next = Math.max(calls.next, index + 1);
  return { index, isNew };
};

const indexOf = (calls: ChoiceCalls, { index, id, name }: CallPiece): number => {
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0) return index;
  if (id !== undefined) return calls.byId.get(id) ?? calls.next;
  return name === undefined ? calls.last : calls.next;
};

interface Message {
  content: string;
  refusal: string;
  readonly calls: Map<number, { name: string; arguments: string }>;
}

/** Content of the choice with index 0 is hashed in blocks of about this size. */
const BLOCK_BYTES = 2 * 1024;
/** Limit of what is kept until the end: tool calls, refusals, and the content of further choices. */
const KEPT_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Characters that a choice or call counts as, in addition to its own. */
const PART_CHARACTERS = 64;
const OPENING = '[{"content":"';
const HIGH_SURROGATE_MIN = 0xd800;
const HIGH_SURROGATE_MAX = 0xdbff;

/**
 * Digests the messages of a response while they arrive: the SHA-256 of `[{"content", "index", "refusal", "tool_calls":
 * [{"arguments", "name"}]}]` in the form of RFC 8785. The content of the choice with index 0, with which that form begins,
 * is not kept.
 */
export class MessageDigest {
  readonly #messages = new Map<number, Message>();
  readonly #calls: CallIndexes = new Map();
  /** Hash of the form so far, once the content with which it begins is longer than a block. */
  #hash: Hash | undefined;
  /** The beginning of the form that is not hashed yet. Behind it comes `content` of the choice with index 0. */
  #block: Buffer | undefined;
  #blockBytes = 0;
  #keptCharacters = 0;

  /** Adds a piece. Throws UpstreamFailure, `unusable`, if it has too many calls. */
  add({ choice, content, refusal, calls }: MessagePiece): void {
    const message = this.#messageOf(choice);
    message.content += choice === 0 ? content : this.#keep(content);
    if (choice === 0 && message.content.length > BLOCK_BYTES)
      this.#digestText(message, wholeCharacters(message.content));
    if (refusal !== '') message.refusal += this.#keep(refusal);
    for (const call of calls) this.#addCall(choice, message, call);
  }

  /** Adds content in UTF-8 that JSON needs not escape, at a fraction of the cost. */
  addPlain(choice: number, bytes: Buffer): void {
    const message = this.#messageOf(choice);
    if (choice !== 0) message.content += this.#keep(bytes.toString());
    else {
      if (message.content !== '') this.#digestText(message, message.content);
      this.#digestBytes(bytes);
    }
  }

  /** Returns the digest in lowercase hexadecimal, once; undefined if the response exceeds the limit of what is kept. */
  value(): string | undefined {
    if (this.#keptCharacters > KEPT_CHARACTERS_MAX) return undefined;
    const messages = [...this.#messages].sort(([one], [other]) => one - other);
    const rest = `${messages.map(([index, message]) => this.#print(index, message)).join(',')}]`;
    if (this.#block === undefined) return hash('sha256', `[${rest}`);
    this.#flush();
    return this.#hash?.update(rest).digest('hex');
  }

  #messageOf(choice: number): Message {
    const known = this.#messages.get(choice);
    if (known !== undefined) return known;
    const message: Message = { content: '', refusal: '', calls: new Map() };
    this.#messages.set(choice, message);
    this.#keptCharacters += PART_CHARACTERS;
    return message;
  }

  #addCall(choice: number, message: Message, { id, name, arguments: args, ...given }: CalledPiece): void {
    const named = { id: id === '' ? undefined : id, name: name === '' ? undefined : name };
    const { index } = placeCall(this.#calls, choice, { ...given, ...named });
    const call = message.calls.get(index) ?? { name: '', arguments: '' };
    if (!message.calls.has(index)) this.#keptCharacters += PART_CHARACTERS;
    message.calls.set(index, call);
    // Providers send the name once, or repeat it with each piece.
    if (name !== '' && name !== call.name) call.name = this.#keep(name);
    call.arguments += this.#keep(args);
  }

  /** Returns the text, or nothing beyond the limit. */
  #keep(text: string): string {
    this.#keptCharacters += text.length;
    return this.#keptCharacters > KEPT_CHARACTERS_MAX ? '' : text;
  }

  #digestText(message: Message, text: string): void {
    message.content = message.content.slice(text.length);
    this.#digestBytes(Buffer.from(printUnquoted(text)));
  }

  #digestBytes(bytes: Buffer): void {
    if (this.#block === undefined) {
      this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
      this.#blockBytes = this.#block.write(OPENING);
    }
    if (this.#blockBytes + bytes.length > BLOCK_BYTES) this.#flush();
    if (bytes.length > BLOCK_BYTES) this.#hash?.update(bytes);
    else {
      this.#block.set(bytes, this.#blockBytes);
      this.#blockBytes += bytes.length;
    }
  }

  #flush(): void {
    this.#hash ??= createHash('sha256');
    if (this.#block !== undefined) this.#hash.update(this.#block.subarray(0, this.#blockBytes));
    this.#blockBytes = 0;
  }

  /** Prints a message, without what is digested of it already. */
  #print(index: number, { content, refusal, calls }: Message): string {
    const isBegun = index === 0 && this.#block !== undefined;
    const begin = isBegun ? `${printUnquoted(content)}"` : `{"content":${printText(content)}`;
    const printed = [...calls]
      .sort(([one], [other]) => one - other)
      .map(([, call]) => `{"arguments":${JSON.stringify(call.arguments)},"name":${JSON.stringify(call.name)}}`);
    return `${begin},"index":${index},"refusal":${printText(refusal)},"tool_calls":[${printed.join(',')}]}`;
  }
}

/** Returns the text without half a character at its end, whose other half is in the next piece. */
const wholeCharacters = (text: string): string => {
  const last = text.charCodeAt(text.length - 1);
  return last >= HIGH_SURROGATE_MIN && last <= HIGH_SURROGATE_MAX ? text.slice(0, -1) : text;
};

const printText = (text: string): string => (text === '' ? 'null' : JSON.stringify(text));

/** Prints a text without its quotes. RFC 8785 section 3.2.2.2 escapes as JSON.stringify does. */
const printUnquoted = (text: string): string => JSON.stringify(text).slice(1, -1);
