import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { JSON_SHAPE_LIMITS, JsonShape } from '../large-json/index.ts';
import type { UpstreamAnswer } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import { createClientWriter, type Edited } from './client-writer.ts';
import { DONE, eventData } from './event-data.ts';
import { createEventSplitter, EventTooLongError } from './event-splitter.ts';

/** Decides what the caller sees of a stream. Each method may throw UpstreamFailure for what no stream may contain. */
export interface StreamEditor {
  /**
   * Judges the first event before the answer opens, and gives the headers; undefined for one that only comes before the one to be
   * judged. What it throws is answered as an error.
   */
  readonly open: (data: Buffer) => OutgoingHttpHeaders | undefined;
  /** `data` is undefined for comments and other blocks without data. */
  readonly edit: (block: Buffer, data: Buffer | undefined) => Edited;
  /** Whether the answer is whole, for a stream that ends without `[DONE]`. */
  readonly isWhole: () => boolean;
  /** The end of a whole stream; `block` is the provider's own `[DONE]`, if it sent one. */
  readonly close: (block: Buffer | undefined) => Edited;
  /** The end of a broken stream. */
  readonly fail: (failure: UpstreamFailure) => Edited;
}

/** How a stream ended that was opened. */
export interface StreamEnd {
  /** Milliseconds since the epoch. */
  readonly firstEventAtMs: number;
  /** Undefined when it ended well. */
  readonly failure: UpstreamFailure | undefined;
  /** The caller left before the end; the provider's part was read all the same. */
  readonly isClientGone: boolean;
}

/** Bounds of one stream. */
export interface StreamLimits {
  readonly eventBytesMax: number;
  /** How long a caller may leave its end of the stream unread. */
  readonly clientIdleTimeoutMs: number;
}

/** What a relay joins. */
export interface RelayOptions {
  readonly answer: UpstreamAnswer;
  readonly res: ServerResponse;
  readonly editor: StreamEditor;
  readonly limits: StreamLimits;
  /** Called when the first event is judged, and the answer opens. */
  readonly onOpen?: () => void;
  /** Awaited before the last bytes go out. Must not reject. */
  readonly beforeEnd: (end: StreamEnd) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A provider that has said `[DONE]` gets this long to end its answer, so that the connection can be used again. */
const AFTER_DONE_MS = 1_000;
const CR = 0x0d;
const LF = 0x0a;
const UNCHECKED_EVENT_BYTES = 2 * 1024;
/** An event with probabilities of all its tokens has a few hundred values. */
const EVENT_SHAPE = { ...JSON_SHAPE_LIMITS, valuesMax: 20_000 };
/** What may come before the event that opens the answer. */
const PREFACE_BYTES_MAX = 64 * 1024;

/**
 * Passes a provider's event stream on, edited. Resolves at its end; rejects, with nothing sent, when it fails before its
 * first event or the editor refuses that. A caller that reads slowly slows the provider down; one that leaves does not.
 */
export const relayEvents = (options: RelayOptions): Promise<StreamEnd> =>
  new Promise((resolve, reject) => {
    new Relay(options, resolve, reject).start();
  });

class Relay {
  readonly #options: RelayOptions;
  readonly #resolve: (end: StreamEnd) => void;
  readonly #reject: (error: unknown) => void;
  readonly #splitter;
  readonly #client;
  #preface: { readonly block: Buffer; readonly data: Buffer | undefined }[] | undefined = [];
  #prefaceBytes = 0;
  #firstEventAtMs = 0;
  #isEnding = false;

  constructor(options: RelayOptions, resolve: (end: StreamEnd) => void, reject: (error: unknown) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#splitter = createEventSplitter(options.limits.eventBytesMax);
    this.#client = createClientWriter(options.res, {
      idleTimeoutMs: options.limits.clientIdleTimeoutMs,
      onFull: options.answer.pause,
      onRoom: options.answer.resume,
    });
  }

  start(): void {
    this.#options.answer.read({
      onData: (chunk) => this.#guard(() => this.#take(chunk)),
      onEnd: () => this.#guard(() => this.#takeEnd()),
      onFailure: (failure) => this.#fail(failure),
    });
  }

  /** Whatever goes wrong inside ends this stream, and nothing else. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.answer.abort();
      if (error instanceof UpstreamFailure) this.#fail(error);
      else if (error instanceof EventTooLongError) this.#fail(new UpstreamFailure('garbled', { cause: error }));
      else this.#fail(new UpstreamFailure('garbled', { cause: error }), error);
    }
  }

  #take(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#splitter.push(chunk, this.#onBlock);
    this.#client.flush();
  }

  readonly #onBlock = (block: Buffer): void => {
    if (this.#isEnding) return;
    const data = eventData(block);
    if (data !== undefined && isTooComplex(data)) throw new UpstreamFailure('too_complex');
    if (this.#preface !== undefined && !this.#open(block, data)) return;
    if (data !== undefined && isDone(data)) {
      this.#releaseUpstream();
      this.#end(undefined, () => this.#options.editor.close(block));
      return;
    }
    this.#client.add(this.#options.editor.edit(block, data));
  };

  /** Answers whether the stream is open; what comes before its first event is kept until then. */
  #open(block: Buffer, data: Buffer | undefined): boolean {
    const { editor, clock } = this.#options;
    if (data !== undefined && isDone(data)) throw new UpstreamFailure('garbled');
    const headers = data === undefined ? undefined : editor.open(data);
    if (headers === undefined) {
      this.#prefaceBytes += block.length;
      if (this.#prefaceBytes > PREFACE_BYTES_MAX) throw new UpstreamFailure('garbled');
      this.#preface?.push({ block, data });
      return false;
    }
    this.#firstEventAtMs = clock();
    this.#options.onOpen?.();
    const preface = this.#preface ?? [];
    this.#preface = undefined;
    this.#client.open(headers);
    for (const early of preface) this.#client.add(editor.edit(early.block, early.data));
    return true;
  }

  #takeEnd(): void {
    if (this.#isEnding) return;
    const rest = this.#splitter.end();
    const data = eventData(rest);
    if (data !== undefined) this.#onBlock(Buffer.concat([rest, missingEnd(rest)]));
    if (this.#isEnding) return;
    if (this.#preface !== undefined || !this.#options.editor.isWhole()) throw new UpstreamFailure('lost');
    this.#end(undefined, () => this.#options.editor.close(undefined));
  }

  /** `error` is what the caller of the relay gets to see when nothing was sent yet. */
  #fail(failure: UpstreamFailure, error: unknown = failure): void {
    if (this.#isEnding) return;
    if (this.#preface !== undefined) {
      this.#isEnding = true;
      this.#client.release();
      this.#reject(error);
      return;
    }
    this.#end(failure, () => this.#options.editor.fail(failure));
  }

  #end(failure: UpstreamFailure | undefined, lastBytes: () => Edited): void {
    this.#isEnding = true;
    this.#client.flush();
    const end = (): StreamEnd => ({
      failure,
      isClientGone: this.#client.isGone(),
      firstEventAtMs: this.#firstEventAtMs,
    });
    this.#options
      .beforeEnd(end())
      .then(() => {
        this.#client.end(lastBytes());
        this.#resolve(end());
      })
      .catch(this.#reject);
  }

  #releaseUpstream(): void {
    const { answer } = this.#options;
    answer.resume();
    const timer = setTimeout(answer.abort, AFTER_DONE_MS);
    answer.read({
      onData: () => {},
      onEnd: () => clearTimeout(timer),
      onFailure: () => clearTimeout(timer),
    });
  }
}

/** What an event lacks that the stream ended before: the line end that makes its last line empty, and where need be one more. */
const missingEnd = (block: Buffer): Buffer => {
  if (block.at(-1) === CR) return Buffer.from('\r');
  if (block.at(-1) !== LF) return Buffer.from('\n\n');
  return Buffer.from(block.at(-2) === CR ? '\r\n' : '\n');
};

/** Long events are checked before they are parsed on the event loop; the values of a short one are few. */
const isTooComplex = (data: Buffer): boolean =>
  data.length > UNCHECKED_EVENT_BYTES && !new JsonShape(EVENT_SHAPE).push(data);

const isDone = (data: Buffer): boolean => data.length === DONE.length && data.equals(DONE_BYTES);
const DONE_BYTES = Buffer.from(DONE);
