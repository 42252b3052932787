import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorShape, RouteDefinition } from '@svc/contracts';
import { currentSpan } from '@svc/tracing';
import type { Logger } from '../logging/create-logger.ts';
import type { AuditFields } from './audit-request.ts';
import { clientAddress } from './client-address.ts';

/** What a state is made from. */
export interface RequestStateOptions {
  requestId: string;
  req: IncomingMessage;
  trustProxyHops: number;
  logger: Logger;
}

/** What the kit knows of a request in flight. */
export class RequestState {
  readonly requestId: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAtMs = performance.now();
  route: RouteDefinition | undefined;
  errorShape: ErrorShape = 'detail';
  /** Pages of any origin may read the answer, errors included. */
  isCrossOrigin = false;
  /** Health and metrics: asked every few seconds, and logged only at level debug. */
  probe: string | undefined;
  callerKind: string | undefined;
  errorCode: string | undefined;
  /** Set while traces are on. */
  readonly traceId = currentSpan()?.traceId;
  /** Set where the audit log is to tell of this request. */
  audit: AuditFields | undefined;
  readonly #options: RequestStateOptions;
  #log: Logger | undefined;

  constructor(options: RequestStateOptions) {
    this.requestId = options.requestId;
    this.#options = options;
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

  get clientAddress(): string {
    return clientAddress(this.#options.req, this.#options.trustProxyHops);
  }

  /** Made when first used: most requests log nothing of their own. */
  get log(): Logger {
    this.#log ??= this.#options.logger.child({ request_id: this.requestId, operation: this.operation });
    return this.#log;
  }
}

const KEY = Symbol('svcRequest');

/** A response that carries its request's state. */
interface WithState {
  [KEY]?: RequestState;
}

/** Attaches the state to its response. */
export const attachState = (res: ServerResponse & WithState, state: RequestState): void => {
  res[KEY] = state;
};

/** The state of a request; undefined outside of an application made by this package. */
export const stateOf = (res: ServerResponse & WithState): RequestState | undefined => res[KEY];
