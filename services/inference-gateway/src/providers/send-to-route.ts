import type { Readable } from 'node:stream';
import { CommonHeaders, type HttpClient } from '@svc/http-client';
import type { Logger } from '@svc/service-kit';
import { activeTracing, currentSpan, type TraceSpan } from '@svc/tracing';
import type { Route } from '../routes/index.ts';
import {
  openUpstream,
  readRefusal,
  type UpstreamAnswer,
  UpstreamFailure,
  type UpstreamLimits,
  type UpstreamRequest,
} from './common-wire/index.ts';
import { kindOf } from './kind-of.ts';
import type { RouteVerdict } from './route-gate.ts';
import type { RouteGates } from './route-gates.ts';

/** What reaching providers needs. */
export interface UpstreamDeps {
  /** Its connections to providers. */
  readonly providers: HttpClient;
  readonly upstreamLimits: UpstreamLimits;
  readonly gates: RouteGates;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** One request as a route's provider gets it. */
export interface RouteRequest {
  readonly route: Route;
  /** Below the provider's base URL, such as `/chat/completions`. */
  readonly endpoint: string;
  readonly body: readonly Buffer[] | Readable;
  /** JSON unless said otherwise. */
  readonly contentType?: string;
  /** A stream is wanted. */
  readonly isStreamed: boolean;
  /** Whose logger is made only when there is something to tell. */
  readonly logging: { readonly log: Logger };
  /** Called when the connection has let go of a body in pieces. */
  readonly onFlushed?: () => void;
  /** For a body that is still being written: decides instead of the first-byte timeout. */
  readonly giveUp?: AbortSignal;
}

/**
 * Sends a request to a route's provider and answers the head of a 200, a stream if one was asked for. Throws UpstreamFailure;
 * `held_back` where the route takes nothing now.
 */
export const sendToRoute = async (deps: UpstreamDeps, request: RouteRequest): Promise<UpstreamAnswer> => {
  // Routes are chosen before the request is admitted and others are tried, which takes its time.
  if (deps.clock() >= request.route.certifiedUntilMs) throw new UpstreamFailure('held_back');
  const permit = deps.gates.enter(request.route);
  const span = currentSpan() === undefined ? undefined : beginExchange(request.route);
  let verdict: RouteVerdict = 'unknown';
  try {
    const answer = await exchange(deps, request, permit.leave);
    verdict = 'served';
    span?.end();
    return answer;
  } catch (error) {
    permit.leave();
    span?.end(error instanceof UpstreamFailure ? error.reason : 'unknown');
    if (error instanceof UpstreamFailure) verdict = verdictOf(error);
    throw error;
  } finally {
    permit.judge(verdict, deps.clock());
  }
};

/** The step until the head of the provider's answer. The provider is not told of the trace. */
const beginExchange = ({ id, provider, service }: Route): TraceSpan | undefined =>
  activeTracing()?.begin({
    name: `ask provider ${service}`,
    kind: 'client',
    attributes: { 'svc.provider': provider.name, 'svc.upstream_route': id },
  });

/** What a provider refuses because of the request alone says that it serves others. */
const verdictOf = (failure: UpstreamFailure): RouteVerdict => {
  if (failure.reason === 'rejected') return 'served';
  return failure.isUncertain ? 'unknown' : 'failed';
};

/** What all requests for a route have in common that ask for the same. */
type Address = Pick<UpstreamRequest, 'origin' | 'path' | 'headers'>;

/** By route and what is asked for. A route does not change, and a new file brings new ones. */
const addresses = new WeakMap<Route, Map<string, Address>>();

const addressOf = (request: RouteRequest): Address => {
  // That of a form differs each time.
  if (request.contentType !== undefined) return writeAddress(request);
  const { route, endpoint, isStreamed } = request;
  const name = isStreamed ? `${endpoint} streamed` : endpoint;
  const known = addresses.get(route);
  const written = known?.get(name);
  if (written !== undefined) return written;
  const address = writeAddress(request);
  addresses.set(route, (known ?? new Map<string, Address>()).set(name, address));
  return address;
};

const writeAddress = ({ route, endpoint, contentType = 'application/json', isStreamed }: RouteRequest): Address => {
  const { provider } = route;
  const kind = kindOf(provider);
  return {
    origin: provider.origin,
    path: `${provider.basePath}${kind.pathOf(endpoint, route)}`,
    headers: new CommonHeaders({
      ...kind.keyHeaders(provider.apiKey),
      'content-type': contentType,
      accept: isStreamed ? 'text/event-stream' : 'application/json',
      // RFC 9110 section 12.5.3: without this, any coding would do.
      'accept-encoding': 'identity',
    }),
  };
};

const exchange = async (deps: UpstreamDeps, request: RouteRequest, onClosed: () => void): Promise<UpstreamAnswer> => {
  const { route, isStreamed, body, giveUp, onFlushed } = request;
  const answer = await openUpstream(
    deps.providers,
    { ...addressOf(request), body, giveUp, onClosed, onFlushed },
    giveUp === undefined ? deps.upstreamLimits : { ...deps.upstreamLimits, firstByteTimeoutMs: 0 },
  );
  if (answer.status === 200 && (!isStreamed || isEventStream(answer))) return answer;
  const failure = await readRefusal(answer, kindOf(route.provider).readError);
  const { status, reason } = failure;
  request.logging.log.warn(
    { upstream_route: route.id, upstream_status: status, reason },
    'the provider did not serve the request',
  );
  throw failure;
};

const isEventStream = ({ headers }: UpstreamAnswer): boolean =>
  /^text\/event-stream\b/i.test(String(headers['content-type'] ?? ''));
