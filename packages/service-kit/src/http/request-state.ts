import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { trace } from '@opentelemetry/api';
import type { ErrorShape, RouteDefinition } from '@svc/contracts';
import type { LoggedIds } from '../app-error.ts';
import type { Logger } from '../logging/create-logger.ts';
import type { AuditFields } from './audit-request.ts';
import type { Caller } from './binding.ts';

export interface RequestStateOptions {
  readonly requestId: string;
  readonly req: IncomingMessage;
  readonly trustProxyHops: number;
  readonly logger: Logger;
}

/** State of a request in flight. */
export class RequestState {
  readonly requestId: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAtMs = performance.now();
  route: RouteDefinition | undefined;
  errorShape: ErrorShape = 'detail';
  /** True if pages of any origin may read the response, errors included. */
  isCrossOrigin = false;
  /** Set for health and metrics probes, which are logged only at level debug. */
  probe: string | undefined;
  /** Set once the caller is authenticated. */
  caller: Caller | undefined;
  errorCode: string | undefined;
  /** Ids of a caller whose credential is refused. */
  refusedIds: LoggedIds | undefined;
  /** Requests of a batch, unless this is the only one. */
  requestIds: readonly string[] | undefined;
  /** Set while tracing is enabled. */
  readonly traceId = trace.getActiveSpan()?.spanContext().traceId;
  /** Set if the request is audited. */
  audit: AuditFields | undefined;
  readonly #options: RequestStateOptions;
  #log: Logger | undefined;

  constructor(options: RequestStateOptions) {
    this.requestId = options.requestId;
    this.#options = options;
  }

  /** Records the route before any check of the request. */
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

  /** Created on first use: most requests log nothing themselves. */
  get log(): Logger {
    this.#log ??= this.#options.logger.child({ request_id: this.requestId, operation: this.operation });
    return this.#log;
  }
}

const KEY = Symbol('svcRequest');

interface WithState {
  [KEY]?: RequestState;
}

export const attachState = (res: ServerResponse & WithState, state: RequestState): void => {
  res[KEY] = state;
};

/** Returns the state of a request; undefined outside an application of this package. */
export const stateOf = (res: ServerResponse & WithState): RequestState | undefined => res[KEY];

/**
 * Returns the caller's address. Each proxy appends its peer to X-Forwarded-For, so with `hops` trusted proxies the
 * caller is that many entries from the right. Entries further left come from the caller and are not trusted.
 */
const clientAddress = (req: IncomingMessage, hops: number): string => {
  const direct = plainAddress(req.socket.remoteAddress ?? '');
  if (hops === 0) return direct;
  const header = req.headers['x-forwarded-for'];
  const entries = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((entry) => entry.trim());
  const entry = plainAddress(entries.at(-hops) ?? '');
  return isIP(entry) === 0 ? direct : entry;
};

const plainAddress = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address);
