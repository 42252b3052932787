import type { IncomingHttpHeaders } from 'node:http';
import { UpstreamFailure } from '../upstream-failure.ts';
import { createHttpClient, type HttpClient } from './http-client/http-client.ts';
import type { HttpControl, HttpHandler, HttpRequest } from './http-client/http-exchange.ts';

/** Shorter than the usual keep-alive of servers (5 s and more), so that requests rarely hit a closing connection. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MS_MAX = 60_000;

/** Creates the HTTP client for providers. It reuses connections and does not limit their number. */
export const createProviderClient = (options: { readonly connectTimeoutMs: number }): HttpClient =>
  createHttpClient({
    connectTimeoutMs: options.connectTimeoutMs,
    connectionsMax: Number.POSITIVE_INFINITY,
    keepAliveMs: KEEP_ALIVE_MS,
    keepAliveMsMax: KEEP_ALIVE_MS_MAX,
  });

export interface UpstreamRequest {
  readonly origin: string;
  /** Default: POST. */
  readonly method?: HttpRequest['method'];
  readonly path: string;
  readonly headers: HttpRequest['headers'];
  readonly body: HttpRequest['body'];
  /** Aborts waiting for the headers of the response; the request fails with `timeout`. */
  readonly giveUp?: AbortSignal | undefined;
  /** Called once, when nothing more will be sent or received. */
  readonly onClosed?: () => void;
  /** Called when the connection no longer uses the pieces of the body, also if it never wrote them. May be called twice. */
  readonly onFlushed?: (() => void) | undefined;
}

export interface UpstreamLimits {
  /** Until the headers of the response. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of the body. */
  readonly idleTimeoutMs: number;
  /** For the whole response. */
  readonly totalTimeoutMs: number;
}

/** Reader of a body. Nothing is called after `onEnd` or `onFailure`. */
interface UpstreamSink {
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  readonly onFailure: (failure: UpstreamFailure) => void;
}

/** Status and headers of a provider's response, with control over reading its body. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Starts reading. Buffered pieces are delivered immediately. */
  readonly read: (sink: UpstreamSink) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Closes the connection. No sink is called afterwards. */
  readonly abort: () => void;
}

/**
 * Sends a request and resolves with the response when its headers arrive, regardless of the status. Rejects with
 * UpstreamFailure: `unreachable` if nothing was sent, else `timeout` or `lost`.
 */
export const openUpstream = (
  client: HttpClient,
  request: UpstreamRequest,
  limits: UpstreamLimits,
): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => {
    const exchange = new Exchange(
      { resolve, reject, onClosed: request.onClosed, onFlushed: request.onFlushed },
      limits,
    );
    request.giveUp?.addEventListener('abort', exchange.giveUp);
    const { origin, path, method = 'POST', headers, body } = request;
    try {
      client.send({ origin, path, method, headers, body }, exchange);
    } catch (error) {
      exchange.onError(error instanceof Error ? error : new Error('the request cannot be written', { cause: error }));
    }
  });

/** Limit of the body buffered before it is read. Beyond it, the provider is paused. */
const BUFFERED_BYTES_MAX = 256 * 1024;

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

interface ExchangeCallbacks {
  readonly resolve: (response: UpstreamResponse) => void;
  readonly reject: (failure: UpstreamFailure) => void;
  readonly onClosed: (() => void) | undefined;
  readonly onFlushed: (() => void) | undefined;
}

/** One exchange with a provider, driven by the HTTP client. */
class Exchange implements HttpHandler, UpstreamResponse {
  status = 0;
  headers: IncomingHttpHeaders = {};
  readonly #callbacks: ExchangeCallbacks;
  readonly #limits: UpstreamLimits;
  readonly #timer: NodeJS.Timeout;
  #idleTimer: NodeJS.Timeout | undefined;
  #control: HttpControl | undefined;
  #sink: UpstreamSink | undefined;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #isPaused = false;
  #isSent = false;
  #end: UpstreamFailure | 'whole' | undefined;

  constructor(callbacks: ExchangeCallbacks, limits: UpstreamLimits) {
    this.#callbacks = callbacks;
    this.#limits = limits;
    this.#timer = setTimeout(this.giveUp, limits.totalTimeoutMs);
  }

  readonly giveUp = (): void => this.#breakOff(new TimeoutError('the answer took too long'));

  onStart(control: HttpControl): boolean {
    if (this.#end !== undefined) return false;
    this.#control = control;
    return true;
  }

  onSent(): void {
    this.#isSent = true;
    if (this.status === 0 && this.#end === undefined) this.#restartIdleTimer(this.#limits.firstByteTimeoutMs);
  }

  onFlushed(): void {
    this.#callbacks.onFlushed?.();
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
    this.#restartIdleTimer(this.#limits.idleTimeoutMs);
    this.#callbacks.resolve(this);
  }

  onData(piece: Buffer): void {
    this.#idleTimer?.refresh();
    if (this.#sink === undefined) this.#buffer(piece);
    else this.#sink.onData(piece);
  }

  onEnd(): void {
    this.#finish('whole');
  }

  onError(error: Error): void {
    this.#finish(toFailure(error, this.#control !== undefined));
  }

  read = (sink: UpstreamSink): void => {
    this.#sink = sink;
    if (this.#bufferedBytes > BUFFERED_BYTES_MAX) this.resume();
    this.#bufferedBytes = 0;
    const early = this.#buffered;
    this.#buffered = [];
    for (const chunk of early) if (this.#sink === sink) sink.onData(chunk);
    if (this.#end !== undefined) this.#deliverEnd(this.#end);
  };

  pause = (): void => {
    if (this.#isPaused || this.#end !== undefined) return;
    this.#isPaused = true;
    this.#control?.pause();
  };

  resume = (): void => {
    if (!this.#isPaused || this.#end !== undefined) return;
    this.#isPaused = false;
    this.#idleTimer?.refresh();
    this.#control?.resume();
  };

  abort = (): void => {
    this.#sink = SILENT;
    this.#breakOff(new AbandonedError('the answer is no longer wanted'));
  };

  #buffer(piece: Buffer): void {
    this.#buffered.push(piece);
    this.#bufferedBytes += piece.length;
    if (this.#bufferedBytes > BUFFERED_BYTES_MAX) this.pause();
  }

  /** Restarts the timeout of silence; 0 disables it. */
  #restartIdleTimer(timeoutMs: number): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = timeoutMs > 0 ? setTimeout(this.#onIdle, timeoutMs) : undefined;
  }

  readonly #onIdle = (): void => {
    // The silence of a paused provider is not its fault.
    if (this.#isPaused) this.#idleTimer?.refresh();
    else this.#breakOff(new TimeoutError('nothing came for too long'));
  };

  #breakOff(reason: Error): void {
    if (this.#end !== undefined) return;
    if (this.#control === undefined) this.#finish(toFailure(reason, false));
    else this.#control.abort(reason);
  }

  #finish(end: UpstreamFailure | 'whole'): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    // Once the body is passed to the socket, the socket reports its end.
    if (!this.#isSent) this.#callbacks.onFlushed?.();
    this.#callbacks.onClosed?.();
    // Without headers, the promise is still pending.
    if (end !== 'whole' && this.status === 0) this.#callbacks.reject(end);
    else if (this.#sink !== undefined) this.#deliverEnd(end);
  }

  #deliverEnd(end: UpstreamFailure | 'whole'): void {
    const sink = this.#sink;
    this.#sink = SILENT;
    if (end === 'whole') sink?.onEnd();
    else sink?.onFailure(end);
  }
}

const SILENT: UpstreamSink = { onData: () => {}, onEnd: () => {}, onFailure: () => {} };

const toFailure = (error: Error, wasSent: boolean): UpstreamFailure => {
  if (!wasSent) return new UpstreamFailure('unreachable', { cause: error });
  return new UpstreamFailure(error instanceof TimeoutError ? 'timeout' : 'lost', { cause: error });
};
