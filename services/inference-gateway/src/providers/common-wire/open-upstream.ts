import type { IncomingHttpHeaders } from 'node:http';
import type { HttpClient, HttpControl, HttpHandler, HttpRequest } from '@svc/http-client';
import { UpstreamFailure } from '../../upstream-failure/index.ts';

/** One request to a provider. */
export interface UpstreamRequest {
  readonly origin: string;
  /** POST unless said otherwise. */
  readonly method?: HttpRequest['method'];
  readonly path: string;
  readonly headers: HttpRequest['headers'];
  readonly body: HttpRequest['body'];
  /** Gives up waiting for the head of the answer, as a `timeout`. */
  readonly giveUp?: AbortSignal | undefined;
  /** Called once, when nothing more is sent or received. */
  readonly onClosed?: () => void;
  /** Called when the connection has let go of a body in pieces. */
  readonly onFlushed?: (() => void) | undefined;
}

/** How long a provider may take, in milliseconds. */
export interface UpstreamLimits {
  /** Until the head of the answer. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of the body. */
  readonly idleTimeoutMs: number;
  /** For the whole answer. */
  readonly totalTimeoutMs: number;
}

/** Who reads a body. After `onEnd` or `onFailure` nothing more is called. */
export interface UpstreamSink {
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  readonly onFailure: (failure: UpstreamFailure) => void;
}

/** The head of a provider's answer, and the means to read its body. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Starts reading; what came before is delivered at once. */
  readonly read: (sink: UpstreamSink) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends the connection; no sink is called any more. */
  readonly abort: () => void;
}

/**
 * Sends a request and resolves with the head of the answer, whatever its status. Rejects with UpstreamFailure:
 * `unreachable` where nothing was sent, `timeout` or `lost` where something was.
 */
export const openUpstream = (
  client: HttpClient,
  request: UpstreamRequest,
  limits: UpstreamLimits,
): Promise<UpstreamAnswer> =>
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

/** What is held of a body that nobody reads yet; then the provider has to wait. */
const EARLY_BYTES_MAX = 256 * 1024;

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

/** Who is told of an exchange. */
interface Told {
  readonly resolve: (answer: UpstreamAnswer) => void;
  readonly reject: (failure: UpstreamFailure) => void;
  readonly onClosed: (() => void) | undefined;
  readonly onFlushed: (() => void) | undefined;
}

/** One exchange, as the HTTP client drives it. */
class Exchange implements HttpHandler, UpstreamAnswer {
  status = 0;
  headers: IncomingHttpHeaders = {};
  readonly #told: Told;
  readonly #limits: UpstreamLimits;
  readonly #timer: NodeJS.Timeout;
  #silence: NodeJS.Timeout | undefined;
  #control: HttpControl | undefined;
  #sink: UpstreamSink | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  #isPaused = false;
  #end: UpstreamFailure | 'whole' | undefined;

  constructor(told: Told, limits: UpstreamLimits) {
    this.#told = told;
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
    if (this.status === 0 && this.#end === undefined) this.#limitSilence(this.#limits.firstByteTimeoutMs);
  }

  onFlushed(): void {
    this.#told.onFlushed?.();
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
    this.#limitSilence(this.#limits.idleTimeoutMs);
    this.#told.resolve(this);
  }

  onData(piece: Buffer): void {
    this.#silence?.refresh();
    if (this.#sink === undefined) this.#hold(piece);
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
    if (this.#earlyBytes > EARLY_BYTES_MAX) this.resume();
    this.#earlyBytes = 0;
    const early = this.#early;
    this.#early = [];
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
    this.#silence?.refresh();
    this.#control?.resume();
  };

  abort = (): void => {
    this.#sink = SILENT;
    this.#breakOff(new AbandonedError('the answer is no longer wanted'));
  };

  #hold(piece: Buffer): void {
    this.#early.push(piece);
    this.#earlyBytes += piece.length;
    if (this.#earlyBytes > EARLY_BYTES_MAX) this.pause();
  }

  /** Ends the exchange where nothing comes for so long; 0 waits for ever. */
  #limitSilence(timeoutMs: number): void {
    clearTimeout(this.#silence);
    this.#silence = timeoutMs > 0 ? setTimeout(this.#onSilence, timeoutMs) : undefined;
  }

  readonly #onSilence = (): void => {
    // Who has paused the answer cannot blame the provider.
    if (this.#isPaused) this.#silence?.refresh();
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
    clearTimeout(this.#silence);
    this.#told.onClosed?.();
    // Without a head nobody has been given this exchange to read.
    if (end !== 'whole' && this.status === 0) this.#told.reject(end);
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
