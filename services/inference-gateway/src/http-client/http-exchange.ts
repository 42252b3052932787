import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { CommonHeaders } from './request-text.ts';

export interface HttpRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';
  /** Encoded, with the query. */
  readonly path: string;
  /** ASCII. The client adds host, connection and framing; they must not be given. */
  readonly headers: Readonly<Record<string, string>> | CommonHeaders;
  /**
   * An array of pieces is sent as one body without copying. A stream is sent chunked, with backpressure; the client
   * takes over its pieces and frees them once sent.
   */
  readonly body: Buffer | readonly Buffer[] | Readable | string | null;
}

/**
 * Controls an exchange that has a connection. Must not be used after the last call, when the connection may serve
 * another exchange.
 */
export interface HttpControl {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Closes the connection; `onError` receives the reason. */
  readonly abort: (reason: Error) => void;
}

/**
 * Callbacks of an exchange. Either `onEnd` or `onError` is the last call, exactly once. An error thrown by `onHead` or
 * `onData` ends the exchange; the others must not throw.
 */
export interface HttpHandler {
  /** Called when a connection is ready, before the request is written. Return false to cancel. */
  readonly onStart: (control: HttpControl) => boolean;
  /** Called when the whole request has been handed to the connection. */
  readonly onSent: () => void;
  /** Called when the connection no longer uses a body given in pieces. Not called for a body that was never sent. */
  readonly onFlushed?: () => void;
  readonly onHead: (status: number, headers: IncomingHttpHeaders) => void;
  /** The handler may keep the piece. */
  readonly onData: (piece: Buffer) => void;
  readonly onEnd: () => void;
  readonly onError: (error: Error) => void;
}

/** A request and its handler. */
export interface HttpExchange {
  /** Includes the final empty line. */
  readonly head: string;
  readonly body: HttpRequest['body'];
  readonly handler: HttpHandler;
}
