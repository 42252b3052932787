import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

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

const TARGET = /^\/[\x21-\x7e]*$/;
/** A token, except names that would add a second host or length. */
const NAME = /^(?!(?:host|connection|content-length|transfer-encoding)$)[!#$%&'*+\-.^_`|~0-9a-z]+$/i;
const VALUE = /^[\t\x20-\x7e]*$/;

/** Headers shared by many requests, rendered once on first use. */
export class CommonHeaders {
  readonly #headers: Readonly<Record<string, string>>;
  #lines: string | undefined;

  constructor(headers: Readonly<Record<string, string>>) {
    this.#headers = headers;
  }

  /** Throws as `toRequestHead` does. */
  get lines(): string {
    this.#lines ??= toLines(this.#headers);
    return this.#lines;
  }
}

const toLines = (headers: Readonly<Record<string, string>>): string => {
  let lines = '';
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError('a header of a request cannot be sent');
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
};

/**
 * Renders the head of a request with its final empty line (RFC 9112 section 3). Throws TypeError for ambiguous parts.
 */
export const toRequestHead = ({ method, path, headers, body }: HttpRequest, host: string): string => {
  if (!TARGET.test(path)) throw new TypeError('the path of a request is not a request target');
  const lines = headers instanceof CommonHeaders ? headers.lines : toLines(headers);
  const head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${lines}`;
  // RFC 9110 section 8.6: a method that may have a body states that it has none.
  if (body === null)
    return method === 'GET' || method === 'DELETE' ? `${head}\r\n` : `${head}content-length: 0\r\n\r\n`;
  if (typeof body === 'string') return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  if (Buffer.isBuffer(body)) return `${head}content-length: ${body.length}\r\n\r\n`;
  if (isPieces(body)) return `${head}content-length: ${lengthOf(body)}\r\n\r\n`;
  return `${head}transfer-encoding: chunked\r\n\r\n`;
};

/** Returns true if the body is an array of pieces. */
export const isPieces = (body: HttpRequest['body']): body is readonly Buffer[] => Array.isArray(body);

export const lengthOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);
