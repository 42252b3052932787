import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { type BodyDecoder, createBodyDecoder } from './body-decoder.ts';
import { type HttpControl, type HttpExchange, type HttpHandler, isPieces, lengthOf } from './http-exchange.ts';
import { BadResponseError, parseResponseHead, type ResponseHead } from './response-head.ts';
import { writeInChunks } from './write-body.ts';

interface ConnectionOptions {
  /** Default and maximum idle time in milliseconds if the server gives none. */
  readonly keepAliveMs: number;
  readonly keepAliveMsMax: number;
  /** Called when the connection can take the next request. */
  readonly onIdle: (connection: Connection) => void;
  readonly onClosed: (connection: Connection) => void;
}

/** A request with a complete body. */
interface WrittenRequest extends Pick<HttpExchange, 'head' | 'handler'> {
  readonly pieces: readonly Buffer[];
}

const HEAD_END = '\r\n\r\n';
const HEAD_BYTES_MAX = 16 * 1024;
/** Up to this size, head and body leave in one write, which costs less than copying the body. */
const COPIED_BYTES_MAX = 12 * 1024;
const NOTHING = Buffer.alloc(0);
/** Interim responses allowed before the final one (RFC 9110 section 15.2). */
const INTERIM_MAX = 16;
/** After this many bytes, other connections get their turn on the event loop. */
const TURN_BYTES = 64 * 1024;

/** One HTTP/1.1 connection that serves one exchange at a time (RFC 9112). Unsolicited bytes close it. */
export class Connection implements HttpControl {
  /** Start of the idle time and end of the keep-alive time, in milliseconds of `performance.now()`. */
  idleSinceMs = 0;
  idleUntilMs = 0;
  readonly #options: ConnectionOptions;
  #socket: Socket | undefined;
  #handler: HttpHandler | undefined;
  #held: Buffer = NOTHING;
  #head: ResponseHead | undefined;
  #body: BodyDecoder | undefined;
  #stopSending: (() => void) | undefined;
  #error: Error | undefined;
  #interimCount = 0;
  #turnBytes = 0;
  #isPaused = false;
  #isYielding = false;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Attaches a connecting socket; the handler receives its connection error. */
  attach(socket: Socket, handler: HttpHandler): void {
    this.#socket = socket;
    this.#handler = handler;
    this.#startIdling(this.#options.keepAliveMs);
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('end', () => this.#takeEnd());
    socket.on('close', () => this.#close());
  }

  /** A broken socket emits its event only after a turn of the event loop. */
  get isClosed(): boolean {
    return this.#isClosed || this.#socket?.destroyed === true;
  }

  /**
   * Sends a request over an idle or new connection. Returns false if nothing was sent and the connection is still idle.
   */
  send({ head, body, handler }: HttpExchange): boolean {
    const socket = this.#socket;
    const isBusy = this.#handler !== undefined && this.#handler !== handler;
    if (socket === undefined || isBusy) throw new Error('the connection is not idle');
    this.#handler = handler;
    const isWanted = handler.onStart(this);
    if (this.#isClosed) return true;
    if (!isWanted) return this.#refuse(handler, new Error('the request was cancelled'));
    if (body === null) socket.write(head, 'latin1');
    else if (typeof body === 'string') socket.write(head + body);
    else if (Buffer.isBuffer(body)) this.#write(socket, { head, pieces: [body], handler });
    else if (isPieces(body)) this.#write(socket, { head, pieces: body, handler });
    // A stream that has ended emits no further event.
    else if (!body.readable)
      return this.#refuse(handler, body.errored ?? new Error('the request body was interrupted'));
    else {
      this.#writeStream(socket, head, body);
      return true;
    }
    handler.onSent();
    return true;
  }

  readonly pause = (): void => {
    this.#isPaused = true;
    this.#socket?.pause();
  };

  readonly resume = (): void => {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isYielding) this.#socket?.resume();
  };

  readonly abort = (reason: Error): void => {
    this.#error = reason;
    this.#close();
  };

  /** Closes the connection in any state. */
  readonly close = (): void => {
    this.#close();
  };

  /** Processes bytes that were read. Their memory is valid only during this call. */
  read(bytes: Buffer): void {
    try {
      this.#take(bytes);
    } catch (error) {
      this.abort(error instanceof Error ? error : new BadResponseError(String(error)));
    }
    this.#turnBytes += bytes.length;
    if (this.#turnBytes >= TURN_BYTES && this.#handler !== undefined) this.#yield();
  }

  /** Continues reading in the next turn of the event loop. */
  #yield(): void {
    this.#turnBytes = 0;
    this.#isYielding = true;
    this.#socket?.pause();
    setImmediate(() => {
      this.#isYielding = false;
      if (!this.#isPaused) this.#socket?.resume();
    });
  }

  #refuse(handler: HttpHandler, error: Error): false {
    this.#handler = undefined;
    handler.onError(error);
    return false;
  }

  #write(socket: Socket, { head, pieces, handler }: WrittenRequest): void {
    if (lengthOf(pieces) <= COPIED_BYTES_MAX) {
      socket.write(
        pieces.reduce((text, piece) => text + piece.toString('latin1'), head),
        'latin1',
      );
      handler.onFlushed?.();
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    for (const piece of pieces.slice(0, -1)) socket.write(piece);
    socket.write(pieces.at(-1) ?? NOTHING, () => handler.onFlushed?.());
    socket.uncork();
  }

  #writeStream(socket: Socket, head: string, body: Readable): void {
    socket.write(head, 'latin1');
    this.#stopSending = writeInChunks(socket, body, {
      onSent: () => {
        this.#stopSending = undefined;
        this.#handler?.onSent();
      },
      onError: (error) => {
        this.#stopSending = undefined;
        this.abort(error);
      },
    });
  }

  #take(bytes: Buffer): void {
    const handler = this.#handler;
    if (handler === undefined) throw new BadResponseError('the server sent unsolicited bytes');
    let rest = bytes;
    while (this.#body === undefined) {
      const taken = this.#takeHead(rest, handler);
      if (taken === undefined) return;
      rest = taken;
    }
    // The handler may have aborted in onHead.
    if (this.#isClosed) return;
    const body = this.#body;
    const piece = rest.length === 0 ? NOTHING : body.take(rest);
    if (piece.length > 0) handler.onData(piece);
    if (body.isDone()) this.#finish();
  }

  /** Returns the bytes after the head; undefined while the head is incomplete. */
  #takeHead(bytes: Buffer, handler: HttpHandler): Buffer | undefined {
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const end = all.indexOf(HEAD_END, Math.max(0, this.#held.length - HEAD_END.length), 'latin1');
    if (end > HEAD_BYTES_MAX || (end === -1 && all.length > HEAD_BYTES_MAX)) {
      throw new BadResponseError('the head of the response is too long');
    }
    if (end === -1) {
      this.#held = Buffer.from(all);
      return undefined;
    }
    this.#held = NOTHING;
    const rest = all.subarray(end + HEAD_END.length);
    const head = parseResponseHead(all.toString('latin1', 0, end));
    if (head.status === 101) throw new BadResponseError('the server switched protocols without a request to do so');
    if (head.status < 200) {
      this.#interimCount += 1;
      if (this.#interimCount > INTERIM_MAX) throw new BadResponseError('too many interim responses');
      return rest.length === 0 ? undefined : rest;
    }
    this.#interimCount = 0;
    this.#head = head;
    this.#body = createBodyDecoder(head.framing);
    handler.onHead(head.status, head.headers);
    return rest;
  }

  /** Handles the end of the connection by the server. */
  #takeEnd(): void {
    if (this.#body?.endsWithConnection === true && this.#error === undefined) this.#finish();
    this.#error ??= new Error('the server ended the connection');
    this.#close();
  }

  /** Ends the exchange. The connection stays open if both sides agree on its state. */
  #finish(): void {
    const { keepAliveMs = this.#options.keepAliveMs } = this.#head ?? {};
    const isSent = this.#stopSending === undefined && this.#socket?.writableLength === 0;
    const isKept = keepAliveMs > 0 && isSent && this.#body?.hasSurplus() === false;
    const handler = this.#handler;
    this.#handler = undefined;
    this.#head = undefined;
    this.#body = undefined;
    handler?.onEnd();
    if (!isKept) {
      this.#close();
      return;
    }
    this.resume();
    this.#startIdling(Math.min(keepAliveMs, this.#options.keepAliveMsMax));
    // In the next turn, so that a server that closes the connection is noticed first.
    setImmediate(() => {
      if (!this.isClosed) this.#options.onIdle(this);
    });
  }

  #startIdling(keepAliveMs: number): void {
    this.idleSinceMs = performance.now();
    this.idleUntilMs = this.idleSinceMs + keepAliveMs;
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket?.destroy();
    this.#stopSending?.();
    this.#stopSending = undefined;
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.onError(this.#error ?? new Error('the connection was closed'));
    this.#options.onClosed(this);
  }
}
