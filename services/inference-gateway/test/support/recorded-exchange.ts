import type { IncomingHttpHeaders } from 'node:http';
import type { HttpClient } from '../../src/providers/http-client/http-client.ts';
import type { HttpControl, HttpHandler, HttpRequest } from '../../src/providers/http-client/http-exchange.ts';

/** Recorded calls of an exchange. */
export interface RecordedExchange {
  /** Names of the calls in order; consecutive `onData` calls count as one. */
  readonly calls: readonly string[];
  readonly status: () => number | undefined;
  readonly headers: () => IncomingHttpHeaders | undefined;
  readonly body: () => Buffer;
  /** Body bytes so far. */
  readonly bytes: () => number;
  readonly error: () => Error | undefined;
  readonly control: () => HttpControl;
  readonly isOver: () => boolean;
  /** Resolves with the last call; never rejects. */
  readonly over: Promise<void>;
}

/** Overrides for a test; the calls are recorded as well. */
export type HandlerChoices = Partial<HttpHandler>;

/** Sends a request and records its calls. */
export const recordExchange = (
  client: HttpClient,
  request: HttpRequest,
  choices: HandlerChoices = {},
): RecordedExchange => {
  const calls: string[] = [];
  const pieces: Buffer[] = [];
  let bytes = 0;
  const over = Promise.withResolvers<void>();
  const seen: { status?: number; headers?: IncomingHttpHeaders; error?: Error; control?: HttpControl } = {};
  const note = (call: string): void => {
    if (call !== 'onData' || calls.at(-1) !== call) calls.push(call);
  };
  client.send(request, {
    onStart: (control) => {
      note('onStart');
      seen.control = control;
      return choices.onStart?.(control) ?? true;
    },
    onSent: () => {
      note('onSent');
      choices.onSent?.();
    },
    onHead: (status, headers) => {
      note('onHead');
      Object.assign(seen, { status, headers });
      choices.onHead?.(status, headers);
    },
    onData: (piece) => {
      note('onData');
      pieces.push(piece);
      bytes += piece.length;
      choices.onData?.(piece);
    },
    onEnd: () => {
      note('onEnd');
      choices.onEnd?.();
      over.resolve();
    },
    onError: (error) => {
      note('onError');
      seen.error = error;
      choices.onError?.(error);
      over.resolve();
    },
  });
  return {
    calls,
    status: () => seen.status,
    headers: () => seen.headers,
    body: () => Buffer.concat(pieces),
    bytes: () => bytes,
    error: () => seen.error,
    control: () => {
      if (seen.control === undefined) throw new Error('the exchange has no connection yet');
      return seen.control;
    },
    isOver: () => calls.includes('onEnd') || calls.includes('onError'),
    over: over.promise,
  };
};
