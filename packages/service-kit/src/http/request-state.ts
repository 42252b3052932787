import type { ErrorShape, RouteDefinition } from '@svc/contracts';
import type { Response } from 'express';
import type { Logger } from '../logging/create-logger.ts';

/** What the kit knows of a request in flight. */
export class RequestState {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly startedAt = process.hrtime.bigint();
  route: RouteDefinition | undefined;
  errorShape: ErrorShape = 'detail';
  /** Health and metrics: asked every few seconds, and logged only at level debug. */
  probe: string | undefined;
  callerKind: string | undefined;
  errorCode: string | undefined;
  readonly #logger: Logger;
  #log: Logger | undefined;

  constructor(requestId: string, clientAddress: string, logger: Logger) {
    this.requestId = requestId;
    this.clientAddress = clientAddress;
    this.#logger = logger;
  }

  /** Names the route as soon as it is known, before anything about it is decided. */
  enter(route: RouteDefinition): void {
    this.route = route;
    this.errorShape = route.errorShape;
    this.#log = undefined;
  }

  /** The route's name for metrics and logs. */
  get operation(): string {
    return this.route?.operationId ?? this.probe ?? 'unmatched';
  }

  /** Made when first used: most requests log nothing of their own. */
  get log(): Logger {
    this.#log ??= this.#logger.child({ request_id: this.requestId, operation: this.operation });
    return this.#log;
  }
}

const KEY = 'svcRequest';

/** Attaches the state to its response. */
export const attachState = (res: Response, state: RequestState): void => {
  res.locals[KEY] = state;
};

/** The state of a request; undefined outside of an application made by this package. */
export const stateOf = (res: Response): RequestState | undefined => {
  const state: unknown = res.locals[KEY];
  return state instanceof RequestState ? state : undefined;
};
