import type { ServerResponse } from 'node:http';
import { isReadInline, JsonShape, type TextOwner, TextRoom } from '../large-json/index.ts';
import type { UpstreamAnswer } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import { createClientWriter, type Edited } from './client-writer.ts';
import { DONE, eventData } from './event-data.ts';
import { createEventSplitter, EventTooLongError } from './event-splitter.ts';
import type { LargeEvent, StreamEditor } from './stream-editor.ts';

/** The end of a stream that was opened. */
export interface StreamEnd {
  /** Milliseconds since the epoch. */
  readonly firstEventAtMs: number;
  /** Undefined when it ended well. */
  readonly failure: UpstreamFailure | undefined;
  /** The caller left before the end. The provider's part was read all the same. */
  readonly isClientGone: boolean;
}

/** Bounds of one stream. */
export interface StreamLimits {
  readonly eventBytesMax: number;
  /** After so long without reading, the caller counts as gone. */
  readonly clientIdleTimeoutMs: number;
}

export interface RelayOptions {
  readonly answer: UpstreamAnswer;
  readonly res: ServerResponse;
  readonly editor: StreamEditor;
  readonly limits: StreamLimits;
  /** The account whose memory a large event takes. */
  readonly owner: TextOwner;
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
/** The values of a shorter event are few. */
const UNCHECKED_EVENT_BYTES = 2 * 1024;
/** Bytes that may come before the event that opens the answer. */
const PREFACE_BYTES_MAX = 64 * 1024;
/** Reasons to hold the provider back. */
const CLIENT = 1;
const LARGE_EVENT = 2;
const MEMORY = 4;
type Reason = typeof CLIENT | typeof LARGE_EVENT | typeof MEMORY;

/**
 * Passes a provider's event stream on, edited. Resolves at its end; rejects, with nothing sent, when it fails before its
 * first event or the editor refuses that. A caller that reads slowly slows the provider down; one that leaves does not.
 */
export const relayEvents = (options: RelayOptions): Promise<StreamEnd> =>
  new Promise((resolve, reject) => {
    new Relay(options, resolve, reject).start();
  });

interface StreamEvent {
  readonly block: Buffer;
  readonly data: Buffer | undefined;
  /** Set for an event that was read off the event loop. */
  readonly large: LargeEvent | undefined;
}

class Relay {
  readonly #options: RelayOptions;
  readonly #resolve: (end: StreamEnd) => void;
  readonly #reject: (error: unknown) => void;
  readonly #splitter;
  readonly #client;
  #holds = 0;
  /** Of an event that is still arriving. */
  #room: TextRoom | undefined;
  /** Blocks behind a large event that is being read. */
  #waiting: Buffer[] | undefined;
  #preface: StreamEvent[] | undefined = [];
  #prefaceBytes = 0;
  #firstEventAtMs = 0;
  /** The provider has sent everything. */
  #isOver = false;
  #isEnding = false;

  constructor(options: RelayOptions, resolve: (end: StreamEnd) => void, reject: (error: unknown) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#splitter = createEventSplitter(options.limits.eventBytesMax);
    this.#client = createClientWriter(options.res, {
      idleTimeoutMs: options.limits.clientIdleTimeoutMs,
      onFull: () => this.#hold(CLIENT),
      onRoom: () => this.#letGo(CLIENT),
    });
  }

  start(): void {
    this.#options.answer.read({
      onData: (chunk) => this.#guard(() => this.#take(chunk)),
      onEnd: () => this.#guard(() => this.#takeEnd()),
      onFailure: (failure) => this.#fail(failure),
    });
  }

  /** Ends this stream, and nothing else, if anything goes wrong inside. */
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

  #hold(reason: Reason): void {
    this.#holds |= reason;
    this.#options.answer.pause();
  }

  #letGo(reason: Reason): void {
    this.#holds &= ~reason;
    if (this.#holds === 0) this.#options.answer.resume();
  }

  #take(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#splitter.push(chunk, this.#onBlock);
    this.#client.flush();
    this.#makeRoom(chunk.length);
  }

  /** Counts the memory of an event that is still arriving, if it is more than a little. */
  #makeRoom(bytesMoved: number): void {
    const bytes = this.#splitter.heldBytes();
    if (bytes === 0) this.#releaseRoom();
    if (bytes < TextRoom.uncountedBytes) return;
    this.#room ??= this.#openRoom();
    this.#room.advance(bytesMoved);
    const waiting = this.#room.growTo(bytes);
    if (waiting === undefined) return;
    this.#hold(MEMORY);
    waiting.then(
      () => this.#letGo(MEMORY),
      (error: unknown) => this.#breakOff(error),
    );
  }

  #openRoom(): TextRoom {
    const { owner, limits } = this.#options;
    const room = new TextRoom({ ...owner, announcedBytes: undefined, bytesMax: limits.eventBytesMax });
    room.startTransit(() => this.#breakOff(new UpstreamFailure('timeout')));
    return room;
  }

  #releaseRoom(): void {
    this.#room?.release();
    this.#room = undefined;
  }

  #breakOff(error: unknown): void {
    this.#guard(() => {
      throw error;
    });
  }

  readonly #onBlock = (block: Buffer): void => {
    if (this.#isEnding) return;
    if (this.#waiting !== undefined) {
      this.#waiting.push(block);
      return;
    }
    const data = eventData(block);
    if (data !== undefined && isLarge(data)) this.#readLarge(block, data);
    else this.#pass({ block, data, large: undefined });
  };

  /** Reads a large event off the event loop, and holds the provider back meanwhile. */
  #readLarge(block: Buffer, data: Buffer): void {
    this.#waiting = [];
    this.#hold(LARGE_EVENT);
    this.#room?.endTransit(block.length);
    this.#options.editor.readLarge(data).then(
      (large) => this.#guard(() => this.#passLarge({ block, data, large })),
      (error: unknown) => this.#breakOff(error),
    );
  }

  #passLarge(event: StreamEvent): void {
    if (this.#isEnding) return;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#pass(event);
    for (const block of waiting) this.#onBlock(block);
    this.#client.flush();
    // One of those that waited may be large too.
    if (this.#waiting !== undefined) return;
    this.#releaseRoom();
    this.#letGo(LARGE_EVENT);
    if (this.#isOver) this.#finish();
  }

  #pass(event: StreamEvent): void {
    const { block, data } = event;
    if (this.#isEnding) return;
    if (this.#preface !== undefined && !this.#open(event)) return;
    if (data !== undefined && isDone(data)) {
      this.#releaseUpstream();
      this.#end(undefined, () => this.#options.editor.close(block));
      return;
    }
    this.#client.add(this.#edit(event));
  }

  #edit({ block, data, large }: StreamEvent): Edited {
    return large === undefined ? this.#options.editor.edit(block, data) : large.edit(block);
  }

  /** Returns true if the stream is open. Blocks before its first event are kept until then. */
  #open(event: StreamEvent): boolean {
    const { block, data, large } = event;
    const { editor, clock } = this.#options;
    if (data !== undefined && isDone(data)) throw new UpstreamFailure('garbled');
    const headers = large !== undefined ? large.open() : data === undefined ? undefined : editor.open(data);
    if (headers === undefined) {
      this.#prefaceBytes += block.length;
      if (this.#prefaceBytes > PREFACE_BYTES_MAX) throw new UpstreamFailure('garbled');
      this.#preface?.push(event);
      return false;
    }
    this.#firstEventAtMs = clock();
    this.#options.onOpen?.();
    const preface = this.#preface ?? [];
    this.#preface = undefined;
    this.#client.open(headers);
    for (const early of preface) this.#client.add(this.#edit(early));
    return true;
  }

  #takeEnd(): void {
    if (this.#isEnding) return;
    this.#isOver = true;
    const rest = this.#splitter.end();
    const data = eventData(rest);
    if (data !== undefined) this.#onBlock(Buffer.concat([rest, missingEnd(rest)]));
    if (this.#waiting === undefined) this.#finish();
  }

  /** Ends a stream that came to its end without `[DONE]`. */
  #finish(): void {
    if (this.#isEnding) return;
    if (this.#preface !== undefined || !this.#options.editor.isWhole()) throw new UpstreamFailure('lost');
    this.#end(undefined, () => this.#options.editor.close(undefined));
  }

  /** If nothing was sent yet, the relay rejects with `error`. */
  #fail(failure: UpstreamFailure, error: unknown = failure): void {
    if (this.#isEnding) return;
    if (this.#preface !== undefined) {
      this.#isEnding = true;
      this.#releaseRoom();
      this.#client.release();
      this.#reject(error);
      return;
    }
    this.#end(failure, () => this.#options.editor.fail(failure));
  }

  #end(failure: UpstreamFailure | undefined, lastBytes: () => Edited): void {
    this.#isEnding = true;
    this.#releaseRoom();
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

/** Returns the line ends that are missing at the end of an event that the stream ended in. */
const missingEnd = (block: Buffer): Buffer => {
  if (block.at(-1) === CR) return Buffer.from('\r');
  if (block.at(-1) !== LF) return Buffer.from('\n\n');
  return Buffer.from(block.at(-2) === CR ? '\r\n' : '\n');
};

/** Returns true for an event that must not be parsed on the event loop. Throws UpstreamFailure, `too_complex`. */
const isLarge = (data: Buffer): boolean => {
  const { length } = data;
  if (length <= UNCHECKED_EVENT_BYTES) return false;
  if (!isReadInline({ length, values: 0 })) return true;
  const shape = new JsonShape();
  if (!shape.push(data)) throw new UpstreamFailure('too_complex');
  return !isReadInline({ length, values: shape.values });
};

const isDone = (data: Buffer): boolean => data.length === DONE.length && data.equals(DONE_BYTES);
const DONE_BYTES = Buffer.from(DONE);
