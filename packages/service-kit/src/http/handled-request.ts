import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../logging/create-logger.ts';
import type { Caller, CheckedRequest } from './binding.ts';
import type { RequestState } from './request-state.ts';

/** Data of a request that has passed every check. */
export interface HandledRequestOptions {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly caller: Caller;
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
  readonly requestId: string;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly #state: RequestState;

  constructor(request: HandledRequestOptions) {
    this.params = request.params;
    this.query = request.query;
    this.headers = request.headers;
    this.body = request.body;
    this.caller = request.caller;
    this.requestId = request.state.requestId;
    this.req = request.req;
    this.res = request.res;
    this.#state = request.state;
  }

  get clientAddress(): string {
    return this.#state.clientAddress;
  }

  get signal(): AbortSignal {
    const controller = new AbortController();
    const { res } = this;
    if (res.destroyed && !res.writableFinished) controller.abort();
    res.once('close', () => {
      if (!res.writableFinished) controller.abort();
    });
    return controller.signal;
  }

  get log(): Logger {
    return this.#state.log;
  }
}
