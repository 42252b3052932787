import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AppError } from '@svc/service-kit';

/** An edited event. Undefined sends nothing. */
export type Edited = Buffer | string | undefined;

export interface ClientWriterOptions {
  /** A caller that reads nothing for this long is disconnected. */
  readonly idleTimeoutMs: number;
  /** Longest silence. After it the caller gets a comment, and before that the headers, if they are known. */
  readonly keepAliveMs: number;
  /** Silence of the response before the writer was created. */
  readonly silentMs: number;
  /** False if the caller wants the provider's bytes alone. */
  readonly sendsComments: boolean;
}

/** Reactions to the caller's pace. */
export interface ClientPace {
  /** Called when the buffers are full. */
  readonly onFull: () => void;
  /** Called when the buffers have drained, or the caller has disconnected. */
  readonly onRoom: () => void;
}

const KEEP_ALIVE = ': keep-alive\n\n';
/** Longer pieces are not copied into one write. */
const FRAMED_BYTES_MAX = 16 * 1024;

/**
 * Writer to the caller of a stream. It holds no more than the buffer of the response and one piece. All methods do nothing
 * once the caller has disconnected.
 */
export class ClientWriter {
  readonly #res: ServerResponse;
  readonly #socket: Socket | null;
  readonly #options: ClientWriterOptions;
  #silence: NodeJS.Timeout;
  /** True while the timer of silence covers the rest of a period only. */
  #isFirstPeriod = true;
  #queue: (Buffer | string)[] = [];
  #isGone: boolean;
  #isHeadOut = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #pace: ClientPace | undefined;
  #late: LateResponse | undefined;
  #startedLateBy: LateResponse | undefined;
  /** True if the response should have started, but its headers were unknown. */
  #isOverdue = false;

  constructor(res: ServerResponse, options: ClientWriterOptions) {
    this.#res = res;
    // A pipelined response has no socket yet.
    this.#socket = res.socket;
    this.#options = options;
    this.#isGone = res.destroyed;
    const { keepAliveMs, silentMs } = options;
    this.#silence = setTimeout(this.#onSilence, Math.max(0, keepAliveMs - silentMs));
    res.on('close', this.#onClose).on('drain', this.#onDrain);
    // Bytes that `#write` writes to the socket directly emit `drain` there.
    this.#socket?.on('drain', this.#onDrain);
  }

  /** Starts the response, unless a late response has. */
  open(headers: OutgoingHttpHeaders): void {
    if (!this.#isGone && !this.#res.headersSent) this.#res.writeHead(200, headers);
  }

  /** Sets how the response starts if its first event is late. */
  startLateBy(late: LateResponse | undefined): void {
    this.#late = late;
    if (this.#isOverdue) this.#onSilence();
  }

  /** Returns the late response that has started it. */
  startedLateBy(): LateResponse | undefined {
    return this.#startedLateBy;
  }

  /** Sets the reactions to the caller's pace. */
  watch(pace: ClientPace): void {
    this.#pace = pace;
  }

  /** Queues bytes until `flush`, so that events that arrive together are sent together. */
  add(bytes: Edited): void {
    if (bytes !== undefined && bytes.length > 0 && !this.#isGone) this.#queue.push(bytes);
  }

  flush(): void {
    if (this.#queue.length === 0 || this.#isGone) return;
    const pieces = joined(this.#queue);
    this.#queue = [];
    this.#send(pieces);
  }

  end(bytes: Edited): void {
    if (this.#isGone) return;
    clearTimeout(this.#silence);
    this.#stopWaiting();
    // A caller that never reads the end must not keep its connection open forever.
    this.#waitForReader();
    this.#res.once('finish', this.#stopWaiting);
    // Sends the last piece and the end of the body in one write.
    this.#socket?.cork();
    if (bytes !== undefined && bytes.length > 0) this.#write(bytes);
    this.#res.end();
    this.#socket?.uncork();
  }

  isGone(): boolean {
    return this.#isGone;
  }

  /** Detaches from the response, so that other code can send it. */
  release(): void {
    clearTimeout(this.#silence);
    this.#stopWaiting();
    this.#res.off('close', this.#onClose).off('drain', this.#onDrain);
    this.#socket?.off('drain', this.#onDrain);
  }

  readonly #onClose = (): void => {
    this.#isGone = true;
    this.#queue = [];
    this.release();
    this.#pace?.onRoom();
  };

  readonly #onDrain = (): void => {
    this.#stopWaiting();
    this.#pace?.onRoom();
  };

  readonly #stopWaiting = (): void => {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  };

  #waitForReader(): void {
    this.#idleTimer ??= setTimeout(() => this.#res.destroy(), this.#options.idleTimeoutMs);
  }

  /** Called after a silence, and as soon as the headers of an overdue response are known. */
  readonly #onSilence = (): void => {
    if (this.#isGone) return;
    this.#restartSilence();
    if (!this.#res.headersSent) this.#startLate();
    // A caller that reads nothing needs no comment. Events are sent whole, so a comment never splits one.
    if (this.#res.headersSent && this.#options.sendsComments && this.#idleTimer === undefined) this.#send(KEEP_ALIVE);
  };

  #restartSilence(): void {
    if (!this.#isFirstPeriod) {
      this.#silence.refresh();
      return;
    }
    this.#isFirstPeriod = false;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(this.#onSilence, this.#options.keepAliveMs);
  }

  #startLate(): void {
    const headers = this.#late?.headers();
    this.#isOverdue = headers === undefined;
    if (headers === undefined) return;
    this.#startedLateBy = this.#late;
    this.#res.writeHead(200, headers);
    if (!this.#options.sendsComments) this.#res.flushHeaders();
  }

  #send(piece: Buffer | string): void {
    this.#restartSilence();
    const hasRoom = this.#write(piece);
    this.#isHeadOut = true;
    if (hasRoom) return;
    this.#pace?.onFull();
    this.#waitForReader();
  }

  /** Returns false if the buffers are full. */
  #write(piece: Buffer | string): boolean {
    const length = Buffer.byteLength(piece);
    const socket = this.#socket;
    if (socket === null || !this.#res.chunkedEncoding || length > FRAMED_BYTES_MAX) return this.#res.write(piece);
    if (this.#isHeadOut) return socket.write(toChunk(piece, length));
    socket.cork();
    this.#res.flushHeaders();
    const hasRoom = socket.write(toChunk(piece, length));
    socket.uncork();
    return hasRoom;
  }
}

/** Formats a chunk (RFC 9112 section 7.1) as one write. The response would use four, which takes a third longer. */
const toChunk = (piece: Buffer | string, length: number): Buffer | string => {
  const size = `${length.toString(16)}\r\n`;
  if (typeof piece === 'string') return `${size}${piece}\r\n`;
  const chunk = Buffer.allocUnsafe(size.length + length + CRLF.length);
  chunk.write(size, 'latin1');
  piece.copy(chunk, size.length);
  CRLF.copy(chunk, size.length + length);
  return chunk;
};

const CRLF = Buffer.from('\r\n');

const joined = (pieces: readonly (Buffer | string)[]): Buffer | string => {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
};

/** Start and end of a stream that has to begin before its first event, so that no proxy takes the silence for a failure. */
export interface LateResponse {
  /** Returns the headers, or undefined while something that they must name is unknown. */
  readonly headers: () => OutgoingHttpHeaders | undefined;
  /** Returns the last bytes of a stream that fails before its first event. */
  readonly fail: (error: AppError) => Edited;
}
