import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counter } from './counts.ts';
import type { Directives } from './directives.ts';

/** A request being answered, and the tools of its handler. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly counter: Counter;
  /** Time in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly newId: () => string;
  /** Aborts when the provider stops. */
  readonly stopping: AbortSignal;
}

/** An error that is sent as a body of the common wire format. */
export class ProviderError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;

  constructor(status: number, code: string | null, message: string) {
    super(message);
    this.name = 'ProviderError';
    this.status = status;
    this.code = code;
    this.type = status === 401 ? 'authentication_error' : status >= 500 ? 'server_error' : 'invalid_request_error';
  }
}

/** Applies delays and faults of the directives. Returns false if the response is complete. */
export const playDirectives = async (exchange: Exchange, directives: Directives): Promise<boolean> => {
  const { req, res } = exchange;
  if (directives.no_request_id) res.removeHeader('x-request-id');
  if (directives.delay_ms !== undefined) {
    await sleep(directives.delay_ms, undefined, { signal: exchange.stopping });
  }
  if (directives.reset) {
    exchange.counter.answered('reset');
    req.socket.destroy();
    return false;
  }
  if (directives.status !== undefined) {
    if (directives.retry_after !== undefined) res.setHeader('retry-after', directives.retry_after);
    throw new ProviderError(directives.status, 'sandbox_directive', 'The prompt requested this error.');
  }
  return true;
};

/** Sends a JSON body, modified by `[[garbage]]` and `[[drop_after]]`. */
export const sendJson = (exchange: Exchange, body: object, directives: Directives = {}): void => {
  const { res, counter } = exchange;
  counter.answered('200');
  const text = directives.garbage ? '<html>not what you asked for</html>' : JSON.stringify(body);
  const bytes = Buffer.from(text);
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  if (directives.drop_after === undefined) {
    res.end(bytes);
    return;
  }
  res.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
  res.socket?.destroySoon();
};

/** Sends an error in the common wire format. */
export const sendError = (exchange: Exchange, error: ProviderError): void => {
  const { res, counter } = exchange;
  counter.answered(String(error.status));
  if (error.status === 401) res.setHeader('www-authenticate', 'Bearer');
  res.writeHead(error.status, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ error: { message: error.message, type: error.type, param: null, code: error.code } }));
};
