import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { UpstreamFailure } from './upstream-failure.ts';

/** One request to a provider. */
export interface UpstreamRequest {
  readonly origin: string;
  /** POST unless said otherwise. */
  readonly method?: Dispatcher.HttpMethod;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Readable | string | null;
  /** Gives up waiting for the head of the answer, as a `timeout`. */
  readonly giveUp?: AbortSignal | undefined;
  /** Called once, when nothing more is sent or received. */
  readonly onOver?: () => void;
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
  dispatcher: Dispatcher,
  request: UpstreamRequest,
  limits: UpstreamLimits,
): Promise<UpstreamAnswer> =>
  new Promise((resolve, reject) => {
    const exchange = new Exchange({ resolve, reject, onOver: request.onOver }, limits.totalTimeoutMs);
    request.giveUp?.addEventListener('abort', exchange.giveUp);
    dispatcher.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: request.method ?? 'POST',
        headers: request.headers,
        body: request.body,
        headersTimeout: limits.firstByteTimeoutMs,
        bodyTimeout: limits.idleTimeoutMs,
      },
      exchange,
    );
  });

class TimeoutError extends Error {
  readonly code = 'TIMEOUT';
}

class AbandonedError extends Error {
  readonly code = 'ABANDONED';
}

/** Who is told of an exchange. */
interface Told {
  readonly resolve: (answer: UpstreamAnswer) => void;
  readonly reject: (failure: UpstreamFailure) => void;
  readonly onOver: (() => void) | undefined;
}

/** One exchange, as the HTTP client drives it. */
class Exchange implements Dispatcher.DispatchHandler, UpstreamAnswer {
  status = 0;
  headers: IncomingHttpHeaders = {};
  readonly #told: Told;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #sink: UpstreamSink | undefined;
  #early: Buffer[] = [];
  #isPaused = false;
  #end: UpstreamFailure | 'whole' | undefined;
  #abortReason: Error | undefined;

  constructor(told: Told, totalTimeoutMs: number) {
    this.#told = told;
    this.#timer = setTimeout(this.giveUp, totalTimeoutMs);
  }

  readonly giveUp = (): void => this.#breakOff(new TimeoutError('the answer took too long'));

  /** Called when a connection is there, right before the request is written to it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#abortReason !== undefined) controller.abort(this.#abortReason);
    else this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.#told.resolve(this);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#sink === undefined) this.#early.push(chunk);
    else this.#sink.onData(chunk);
  }

  onResponseEnd(): void {
    this.#finish('whole');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(toFailure(error, this.#controller !== undefined));
  }

  read = (sink: UpstreamSink): void => {
    this.#sink = sink;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) if (this.#sink === sink) sink.onData(chunk);
    if (this.#end !== undefined) this.#deliverEnd(this.#end);
  };

  pause = (): void => {
    if (this.#isPaused || this.#end !== undefined) return;
    this.#isPaused = true;
    this.#controller?.pause();
  };

  resume = (): void => {
    if (!this.#isPaused || this.#end !== undefined) return;
    this.#isPaused = false;
    this.#controller?.resume();
  };

  abort = (): void => {
    this.#sink = SILENT;
    this.#breakOff(new AbandonedError('the answer is no longer wanted'));
  };

  #breakOff(reason: Error): void {
    if (this.#end !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  #finish(end: UpstreamFailure | 'whole'): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    clearTimeout(this.#timer);
    this.#told.onOver?.();
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

const TIMEOUTS: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'TIMEOUT']);

const toFailure = (error: Error, wasSent: boolean): UpstreamFailure => {
  if (!wasSent) return new UpstreamFailure('unreachable', { cause: error });
  const reason = 'code' in error && TIMEOUTS.has(error.code) ? 'timeout' : 'lost';
  return new UpstreamFailure(reason, { cause: error });
};
