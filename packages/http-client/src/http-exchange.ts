import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { CommonHeaders } from './request-text.ts';

/** A request as it is written. */
export interface HttpRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';
  /** With its query; already encoded. */
  readonly path: string;
  /** ASCII. Host, connection and framing are added, and may not be given. */
  readonly headers: Readonly<Record<string, string>> | CommonHeaders;
  /** Pieces are sent as one body, uncopied. A stream is sent in chunks, as fast as the server takes them; its pieces are taken over, and emptied once they are sent. */
  readonly body: Buffer | readonly Buffer[] | Readable | string | null;
}

/** The means to steer an exchange that has a connection, until its last call: after that, the connection may serve another one. */
export interface HttpControl {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends the connection; `onError` is called with this. */
  readonly abort: (reason: Error) => void;
}

/**
 * Who is told of an exchange. `onEnd` or `onError` is the last call, and comes exactly once. What `onHead` or `onData` throws
 * ends the exchange with that error; the others must not throw.
 */
export interface HttpHandler {
  /** A connection is there, and the request is written to it next; false where it is no longer wanted. */
  readonly onStart: (control: HttpControl) => boolean;
  /** The whole request has been handed to the connection. */
  readonly onSent: () => void;
  /** The connection has let go of a body in pieces. Not called for a body that was never sent. */
  readonly onFlushed?: () => void;
  readonly onHead: (status: number, headers: IncomingHttpHeaders) => void;
  /** The piece is the handler's to keep. */
  readonly onData: (piece: Buffer) => void;
  readonly onEnd: () => void;
  readonly onError: (error: Error) => void;
}

/** A request on its way to a connection, and who is told of it. */
export interface HttpExchange {
  /** With the empty line that ends it. */
  readonly head: string;
  readonly body: HttpRequest['body'];
  readonly handler: HttpHandler;
}
