import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../logging/create-logger.ts';
import type { Act, Caller, CheckedRequest } from './binding.ts';
import type { RequestState } from './request-state.ts';
import { whenClosed } from './when-closed.ts';

/** Data of a request that has passed every check. */
export interface HandledRequestOptions {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly caller: Caller;
  readonly act: Act | undefined;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly state: RequestState;
}

/**
 * Input of a handler. A class, since most handlers use none of the computed members. Accessors of an object literal
 * create a hidden class per object, which keeps its request in memory until the next full collection (docs/adr/0006).
 */
export class HandledRequest implements CheckedRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly caller: Caller;
  readonly act: Act | undefined;
  readonly requestId: string;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly #state: RequestState;
  #signal: AbortSignal | undefined;

  constructor(request: HandledRequestOptions) {
    this.params = request.params;
    this.query = request.query;
    this.headers = request.headers;
    this.body = request.body;
    this.caller = request.caller;
    this.act = request.act;
    this.requestId = request.state.requestId;
    this.req = request.req;
    this.res = request.res;
    this.#state = request.state;
  }

  get clientAddress(): string {
    return this.#state.clientAddress;
  }

  /** One signal for all who ask, so that a listener can be removed from it. */
  get signal(): AbortSignal {
    this.#signal ??= abortedWithoutAnswer(this.res);
    return this.#signal;
  }

  get log(): Logger {
    return this.#state.log;
  }

  nameRequests(requestIds: readonly string[]): void {
    const isOwn = requestIds.every((id) => id === this.requestId);
    this.#state.requestIds = isOwn ? undefined : requestIds;
  }
}

/** Creates a signal that is aborted if the connection closes before the response is sent. */
const abortedWithoutAnswer = (res: ServerResponse): AbortSignal => {
  const controller = new AbortController();
  const abort = (): void => {
    if (!res.writableFinished) controller.abort();
  };
  if (res.destroyed) abort();
  else whenClosed(res, abort);
  return controller.signal;
};
