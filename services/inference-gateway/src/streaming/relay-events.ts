import type { TextOwner } from '../large-json/index.ts';
import type { UpstreamResponse } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import type { ClientWriter, Edited } from './client-writer.ts';
import { completeEvent, createEventSplitter, EventTooLongError, eventData, isDone, isLargeEvent } from './events.ts';
import type { LargeEvent, StreamEditor } from './stream-editor.ts';
import { drainUpstream, EventRoom, PAUSE, UpstreamFlow } from './upstream-flow.ts';

/** End of a stream whose response had started. */
export interface StreamEnd {
  /** Milliseconds since the epoch. */
  readonly firstEventAtMs: number;
  /** Undefined on success. */
  readonly failure: UpstreamFailure | undefined;
  /** True if the caller disconnected before the end. The provider's stream was still read to its end. */
  readonly isClientGone: boolean;
}

export interface StreamLimits {
  readonly eventBytesMax: number;
  /** A caller that reads nothing for this long is disconnected. */
  readonly clientIdleTimeoutMs: number;
  /** Longest silence towards a caller. */
  readonly keepAliveMs: number;
}

export interface RelayOptions {
  readonly response: UpstreamResponse;
  readonly client: ClientWriter;
  readonly editor: StreamEditor;
  readonly limits: StreamLimits;
  /** Memory of large events, and the account whose share they count against. */
  readonly owner: TextOwner;
  /** Called when the first event is accepted and the response starts. */
  readonly onOpen?: () => void;
  /** Awaited before the last bytes are sent. Must not reject. */
  readonly beforeEnd: (end: StreamEnd) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Limit of the bytes before the event that starts the response. */
const PREFACE_BYTES_MAX = 64 * 1024;

/**
 * Relays a provider's event stream, edited. Resolves at its end. Rejects if the stream fails before its first event or the
 * editor rejects that event; the caller has no event by then. A slow caller exerts backpressure on the provider; a caller that
 * disconnects does not, and the stream is read to its end.
 */
export const relayEvents = (options: RelayOptions): Promise<StreamEnd> =>
  new Promise((resolve, reject) => {
    new Relay(options, resolve, reject).start();
  });

interface StreamEvent {
  readonly block: Buffer;
  readonly data: Buffer | undefined;
  /** Set for an event that was read in a worker. */
  readonly large: LargeEvent | undefined;
}

/** `unopened` until the event that starts the response; `ended` once its last bytes are decided. */
type RelayState = 'unopened' | 'open' | 'ended';

class Relay {
  readonly #options: RelayOptions;
  readonly #resolve: (end: StreamEnd) => void;
  readonly #reject: (error: unknown) => void;
  readonly #splitter;
  readonly #flow: UpstreamFlow;
  readonly #room: EventRoom;
  /** Blocks after a large event that is being read. */
  #waiting: Buffer[] | undefined;
  #state: RelayState = 'unopened';
  /** Blocks before the event that starts the response. */
  #preface: StreamEvent[] = [];
  #prefaceBytes = 0;
  #firstEventAtMs = 0;
  /** True once the provider has sent everything. */
  #isOver = false;

  constructor(options: RelayOptions, resolve: (end: StreamEnd) => void, reject: (error: unknown) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#splitter = createEventSplitter(options.limits.eventBytesMax);
    this.#flow = new UpstreamFlow(options.response);
    this.#room = new EventRoom({ owner: options.owner, eventBytesMax: options.limits.eventBytesMax });
    options.client.watch({
      onFull: () => this.#flow.pause(PAUSE.slowClient),
      onRoom: () => this.#flow.resume(PAUSE.slowClient),
    });
  }

  start(): void {
    this.#options.response.read({
      onData: (chunk) => this.#guard(() => this.#take(chunk)),
      onEnd: () => this.#guard(() => this.#takeEnd()),
      onFailure: (failure) => this.#fail(failure),
    });
  }

  /** Ends only this stream if `work` throws. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.response.abort();
      if (error instanceof UpstreamFailure) this.#fail(error);
      else if (error instanceof EventTooLongError) this.#fail(new UpstreamFailure('garbled', { cause: error }));
      else this.#fail(new UpstreamFailure('garbled', { cause: error }), error);
    }
  }

  #take(chunk: Buffer): void {
    if (this.#state === 'ended') return;
    this.#splitter.push(chunk, this.#onBlock);
    this.#options.client.flush();
    this.#makeRoom();
  }

  /** Pauses the provider while there is no memory for the event that is arriving. */
  #makeRoom(): void {
    const waiting = this.#room.growTo(this.#splitter.heldBytes());
    if (waiting === undefined) return;
    this.#flow.pause(PAUSE.memory);
    waiting.then(
      () => this.#flow.resume(PAUSE.memory),
      (error: unknown) => this.#breakOff(error),
    );
  }

  #breakOff(error: unknown): void {
    this.#guard(() => {
      throw error;
    });
  }

  readonly #onBlock = (block: Buffer): void => {
    if (this.#state === 'ended') return;
    if (this.#waiting !== undefined) {
      this.#waiting.push(block);
      return;
    }
    const data = eventData(block);
    if (data !== undefined && isLargeEvent(data)) this.#readLarge(block, data);
    else this.#pass({ block, data, large: undefined });
  };

  /** Reads a large event in a worker. Pauses the provider meanwhile. */
  #readLarge(block: Buffer, data: Buffer): void {
    this.#waiting = [];
    this.#flow.pause(PAUSE.largeEvent);
    this.#room.endTransit(block.length);
    this.#options.editor.readLarge(data).then(
      (large) => this.#guard(() => this.#passLarge({ block, data, large })),
      (error: unknown) => this.#breakOff(error),
    );
  }

  #passLarge(event: StreamEvent): void {
    if (this.#state === 'ended') return;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#pass(event);
    for (const block of waiting) this.#onBlock(block);
    this.#options.client.flush();
    // One of the waiting blocks may be large too.
    if (this.#waiting !== undefined) return;
    this.#room.release();
    this.#flow.resume(PAUSE.largeEvent);
    if (this.#isOver) this.#finish();
  }

  #pass(event: StreamEvent): void {
    const { block, data } = event;
    if (this.#state === 'ended') return;
    if (this.#state === 'unopened' && !this.#open(event)) return;
    if (data !== undefined && isDone(data)) {
      drainUpstream(this.#options.response);
      this.#end(undefined, () => this.#options.editor.close(block));
      return;
    }
    this.#options.client.add(this.#edit(event));
  }

  #edit({ block, data, large }: StreamEvent): Edited {
    return large === undefined ? this.#options.editor.edit(block, data) : large.edit(block);
  }

  /** Returns true if the response has started. Keeps the blocks before its first event until then. */
  #open(event: StreamEvent): boolean {
    const { block, data, large } = event;
    const { editor, clock } = this.#options;
    if (data !== undefined && isDone(data)) throw new UpstreamFailure('garbled');
    const headers = large !== undefined ? large.open() : data === undefined ? undefined : editor.open(data);
    if (headers === undefined) {
      this.#prefaceBytes += block.length;
      if (this.#prefaceBytes > PREFACE_BYTES_MAX) throw new UpstreamFailure('garbled');
      this.#preface.push(event);
      return false;
    }
    this.#firstEventAtMs = clock();
    this.#options.onOpen?.();
    this.#state = 'open';
    this.#options.client.open(headers);
    for (const early of this.#preface.splice(0)) this.#options.client.add(this.#edit(early));
    return true;
  }

  #takeEnd(): void {
    if (this.#state === 'ended') return;
    this.#isOver = true;
    const rest = this.#splitter.end();
    const data = eventData(rest);
    if (data !== undefined) this.#onBlock(completeEvent(rest));
    if (this.#waiting === undefined) this.#finish();
  }

  /** Ends a stream that ended without `[DONE]`. */
  #finish(): void {
    if (this.#state === 'ended') return;
    if (this.#state === 'unopened' || !this.#options.editor.isWhole()) throw new UpstreamFailure('lost');
    this.#end(undefined, () => this.#options.editor.close(undefined));
  }

  /**
   * Ends the response with a failure, unless nothing but its formal end is missing. Rejects with `error` before the first
   * event.
   */
  #fail(failure: UpstreamFailure, error: unknown = failure): void {
    if (this.#state === 'ended') return;
    if (this.#state === 'unopened') {
      this.#state = 'ended';
      this.#room.release();
      this.#reject(error);
      return;
    }
    const { editor } = this.#options;
    if (editor.isWholeDespite(failure)) this.#end(undefined, () => editor.close(undefined));
    else this.#end(failure, () => editor.fail(failure));
  }

  #end(failure: UpstreamFailure | undefined, lastBytes: () => Edited): void {
    this.#state = 'ended';
    this.#room.release();
    this.#options.client.flush();
    const end = (): StreamEnd => ({
      failure,
      isClientGone: this.#options.client.isGone(),
      firstEventAtMs: this.#firstEventAtMs,
    });
    this.#options
      .beforeEnd(end())
      .then(() => {
        this.#options.client.end(lastBytes());
        this.#resolve(end());
      })
      .catch(this.#reject);
  }
}
