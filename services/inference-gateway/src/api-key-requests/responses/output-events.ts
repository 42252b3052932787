import { UpstreamFailure } from '../../upstream-failure.ts';
import type { MessageDigest } from '../../wire/index.ts';
import {
  type CallDelta,
  type ChatDelta,
  callItem,
  type ItemStatus,
  messageItem,
  refusalPart,
  textPart,
} from './read-chat.ts';

/** Formats the next event of the stream, with its sequence number. */
export type WriteEvent = (type: string, members: object) => string;

interface OutputEventsOptions {
  readonly write: WriteEvent;
  /** Random part of the items' ids. */
  readonly tail: string;
  /** Limit of the output that is kept for the last events of items. */
  readonly bytesMax: number;
  /** Set if a proof needs the digest of the output. */
  readonly digest: MessageDigest | undefined;
}

type PartKind = 'output_text' | 'refusal';

interface OpenMessage {
  readonly kind: 'message';
  readonly id: string;
  readonly ended: object[];
  part: { readonly kind: PartKind; text: string } | undefined;
}

interface OpenCall {
  readonly kind: 'call';
  readonly id: string;
  readonly index: number;
  readonly call: { readonly id: string; readonly name: string; arguments: string };
}

const PARTS = { output_text: textPart, refusal: refusalPart } as const;

/** Turns chat deltas into the events of consecutive output items, and collects the items. */
export class OutputEvents {
  readonly #write: WriteEvent;
  readonly #tail: string;
  readonly #bytesMax: number;
  readonly #digest: MessageDigest | undefined;
  readonly #ended: string[] = [];
  #open: OpenMessage | OpenCall | undefined;
  #bytes = 0;

  constructor({ write, tail, bytesMax, digest }: OutputEventsOptions) {
    this.#write = write;
    this.#tail = tail;
    this.#bytesMax = bytesMax;
    this.#digest = digest;
  }

  /** Returns the events of a chunk. Throws UpstreamFailure, `garbled`, if the output exceeds the limit. */
  take({ text, refusal, calls }: ChatDelta): string {
    let events = text === '' ? '' : this.text(text);
    if (refusal !== '') events += this.#addText('refusal', refusal);
    for (const call of calls) events += this.#addCall(call);
    return events;
  }

  text(text: string): string {
    return this.#addText('output_text', text);
  }

  /** Returns the events that end the open item. An empty response becomes an empty message: a response needs an item. */
  end(status: Exclude<ItemStatus, 'in_progress'>): string {
    const isEmpty = this.#open === undefined && this.#ended.length === 0;
    return (isEmpty ? this.text('') : '') + this.#endItem(status);
  }

  /** Returns the ended items as a JSON array. */
  json(): string {
    return `[${this.#ended.join(',')}]`;
  }

  #addText(kind: PartKind, text: string): string {
    const { item, events: begun } = this.#message();
    const isText = kind === 'output_text';
    this.#digest?.add({ choice: 0, content: isText ? text : '', refusal: isText ? '' : text, calls: [] });
    let events = begun;
    if (item.part?.kind !== kind) events += this.#endPart(item) + this.#beginPart(item, kind);
    if (item.part !== undefined) item.part.text += this.#keep(text);
    const delta = { ...this.#partPlace(item), delta: text };
    return kind === 'refusal'
      ? events + this.#write('response.refusal.delta', delta)
      : events + this.#write('response.output_text.delta', { ...delta, logprobs: [] });
  }

  #message(): { readonly item: OpenMessage; readonly events: string } {
    if (this.#open?.kind === 'message') return { item: this.#open, events: '' };
    const ending = this.#endItem('completed');
    const id = `msg_${this.#tail}_${this.#ended.length}`;
    const item: OpenMessage = { kind: 'message', id, ended: [], part: undefined };
    this.#open = item;
    return { item, events: ending + this.#added(messageItem(id, 'in_progress', [])) };
  }

  #beginPart(item: OpenMessage, kind: PartKind): string {
    item.part = { kind, text: '' };
    return this.#write('response.content_part.added', { ...this.#partPlace(item), part: PARTS[kind]('') });
  }

  #endPart(item: OpenMessage): string {
    const { part } = item;
    if (part === undefined) return '';
    const at = this.#partPlace(item);
    const whole = PARTS[part.kind](part.text);
    const done =
      part.kind === 'refusal'
        ? this.#write('response.refusal.done', { ...at, refusal: part.text })
        : this.#write('response.output_text.done', { ...at, text: part.text, logprobs: [] });
    item.ended.push(whole);
    item.part = undefined;
    return done + this.#write('response.content_part.done', { ...at, part: whole });
  }

  #addCall(delta: CallDelta): string {
    const { item, events } = this.#call(delta);
    const call = { index: this.#ended.length, id: '', name: item.call.name, arguments: delta.arguments };
    this.#digest?.add({ choice: 0, content: '', refusal: '', calls: [call] });
    if (delta.arguments === '') return events;
    item.call.arguments += this.#keep(delta.arguments);
    const members = { item_id: item.id, ...this.#place(), delta: delta.arguments };
    return events + this.#write('response.function_call_arguments.delta', members);
  }

  #call(delta: CallDelta): { readonly item: OpenCall; readonly events: string } {
    const open = this.#open;
    const continues = open?.kind === 'call' && open.index === delta.index;
    if (continues && (delta.id === '' || delta.id === open.call.id)) return { item: open, events: '' };
    const ending = this.#endItem('completed');
    const name = `${this.#tail}_${this.#ended.length}`;
    const call = { id: delta.id || `call_${name}`, name: this.#keep(delta.name), arguments: '' };
    const item: OpenCall = { kind: 'call', id: `fc_${name}`, index: delta.index, call };
    this.#open = item;
    return { item, events: ending + this.#added(callItem(item.id, 'in_progress', call)) };
  }

  #endItem(status: ItemStatus): string {
    const item = this.#open;
    if (item === undefined) return '';
    const ending = item.kind === 'message' ? this.#endPart(item) : this.#endArguments(item);
    const whole =
      item.kind === 'message' ? messageItem(item.id, status, item.ended) : callItem(item.id, status, item.call);
    const events = ending + this.#write('response.output_item.done', { ...this.#place(), item: whole });
    this.#ended.push(JSON.stringify(whole));
    this.#open = undefined;
    return events;
  }

  #endArguments({ id, call }: OpenCall): string {
    const { name, arguments: args } = call;
    return this.#write('response.function_call_arguments.done', {
      item_id: id,
      ...this.#place(),
      name,
      arguments: args,
    });
  }

  #added(item: object): string {
    return this.#write('response.output_item.added', { ...this.#place(), item });
  }

  #place(): { readonly output_index: number } {
    return { output_index: this.#ended.length };
  }

  #partPlace(item: OpenMessage): object {
    return { item_id: item.id, ...this.#place(), content_index: item.ended.length };
  }

  #keep(text: string): string {
    this.#bytes += text.length;
    if (this.#bytes > this.#bytesMax) throw new UpstreamFailure('garbled');
    return text;
  }
}
