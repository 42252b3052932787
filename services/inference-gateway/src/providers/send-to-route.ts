import type { Readable } from 'node:stream';
import { type Span, SpanKind, trace } from '@opentelemetry/api';
import { endSpan, type Logger, tracer } from '@svc/service-kit';
import { operationName, type Route, type TokenRoute } from '../provider-routes/index.ts';
import { toDispatchedFailure, UpstreamFailure } from '../upstream-failure.ts';
import { type RequestBody, toUpstreamBody } from '../wire/index.ts';
import type { HttpClient } from './http-client/http-client.ts';
import { CommonHeaders } from './http-client/http-exchange.ts';
import { openUpstream, type UpstreamLimits, type UpstreamRequest, type UpstreamResponse } from './open-upstream.ts';
import { kindOf } from './provider-kinds.ts';
import { readRefusal } from './read-refusal.ts';
import type { RouteGates, RouteVerdict } from './route-gates.ts';

/** Dependencies of requests to providers. */
export interface UpstreamDeps {
  readonly providers: HttpClient;
  readonly upstreamLimits: UpstreamLimits;
  readonly gates: RouteGates;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

export interface RouteRequest {
  readonly route: Route;
  /** Path relative to the provider's base URL, such as `/chat/completions`. */
  readonly endpoint: string;
  readonly body: readonly Buffer[] | Readable;
  /** Default: JSON. */
  readonly contentType?: string;
  /** True if the response must be a stream. */
  readonly isStreamed: boolean;
  /** An object rather than the logger itself, because `log` is a getter that creates it. */
  readonly logging: { readonly log: Logger };
  /** Takes over the span of a successful exchange. */
  readonly keepSpan: (span: Span) => void;
  /** Called when the connection no longer uses the pieces of the body. */
  readonly onFlushed?: () => void;
  /** Replaces the first-byte timeout for a body that is still being written. */
  readonly giveUp?: AbortSignal;
}

/**
 * Sends a request to a route's provider and returns a successful response, a stream if requested. Throws UpstreamFailure;
 * `held_back` if the route accepts no requests now.
 */
export const sendToRoute = async (deps: UpstreamDeps, request: RouteRequest): Promise<UpstreamResponse> => {
  // The certification may have expired since the route was chosen: admission and other attempts take time.
  if (deps.clock() >= request.route.certifiedUntilMs) throw new UpstreamFailure('held_back');
  const permit = deps.gates.enter(request.route);
  const span = trace.getActiveSpan() === undefined ? undefined : beginSpan(request.route);
  let verdict: RouteVerdict = 'unknown';
  try {
    const response = await openResponse(deps, request, permit.leave).catch((error: unknown) => {
      throw toDispatchedFailure(error);
    });
    verdict = 'served';
    if (span !== undefined) request.keepSpan(span);
    return response;
  } catch (error) {
    permit.leave();
    endSpan(span, error instanceof UpstreamFailure ? error.reason : 'unknown');
    if (error instanceof UpstreamFailure) verdict = verdictOf(error);
    throw error;
  } finally {
    permit.judge(verdict, deps.clock());
  }
};

/** Begins the span of an inference, by OpenTelemetry's conventions. No trace context is sent to the provider. */
const beginSpan = ({ id, provider, service, upstreamModel }: Route): Span => {
  const { protocol, hostname, port } = new URL(provider.origin);
  return tracer().startSpan(`${operationName(service)} ${upstreamModel}`, {
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': operationName(service),
      'gen_ai.provider.name': provider.name,
      'gen_ai.request.model': upstreamModel,
      'server.address': hostname,
      'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
      'svc.upstream_route': id,
    },
  });
};

/** A provider that rejects an invalid request is healthy. */
const verdictOf = (failure: UpstreamFailure): RouteVerdict => {
  if (failure.reason === 'rejected') return 'served';
  return failure.isUncertain ? 'unknown' : 'failed';
};

/** The parts of a request that are the same for a route and endpoint. */
type RequestTarget = Pick<UpstreamRequest, 'origin' | 'path' | 'headers'>;

/** Cache by route and endpoint. Routes are immutable; a reload of the file creates new ones. */
const targets = new WeakMap<Route, Map<string, RequestTarget>>();

const targetOf = (request: RouteRequest): RequestTarget => {
  // The content type of a form has a new boundary each time.
  if (request.contentType !== undefined) return buildTarget(request);
  const { route, endpoint, isStreamed } = request;
  const name = isStreamed ? `${endpoint} streamed` : endpoint;
  const known = targets.get(route);
  const written = known?.get(name);
  if (written !== undefined) return written;
  const target = buildTarget(request);
  targets.set(route, (known ?? new Map<string, RequestTarget>()).set(name, target));
  return target;
};

const buildTarget = ({
  route,
  endpoint,
  contentType = 'application/json',
  isStreamed,
}: RouteRequest): RequestTarget => {
  const { provider } = route;
  const kind = kindOf(provider);
  return {
    origin: provider.origin,
    path: `${provider.basePath}${kind.pathOf(endpoint, route)}`,
    headers: new CommonHeaders({
      ...kind.keyHeaders(provider.apiKey),
      'content-type': contentType,
      accept: isStreamed ? 'text/event-stream' : 'application/json',
      // RFC 9110 section 12.5.3: any coding is acceptable without this header.
      'accept-encoding': 'identity',
    }),
  };
};

const openResponse = async (
  deps: UpstreamDeps,
  request: RouteRequest,
  onClosed: () => void,
): Promise<UpstreamResponse> => {
  const { route, isStreamed, body, giveUp, onFlushed } = request;
  const response = await openUpstream(
    deps.providers,
    { ...targetOf(request), body, giveUp, onClosed, onFlushed },
    giveUp === undefined ? deps.upstreamLimits : { ...deps.upstreamLimits, firstByteTimeoutMs: 0 },
  );
  if (response.status === 200 && (!isStreamed || isEventStream(response))) return response;
  const { readError } = kindOf(route.provider);
  const failure = await readRefusal(response, { readError, apiKey: route.provider.apiKey });
  const { status, reason } = failure;
  request.logging.log.warn(
    { upstream_route: route.id, upstream_status: status, reason },
    'the provider did not serve the request',
  );
  throw failure;
};

const isEventStream = ({ headers }: UpstreamResponse): boolean =>
  /^text\/event-stream\b/i.test(String(headers['content-type'] ?? ''));

export interface BodyOptions {
  readonly isStreamed: boolean;
  /** Output limit for a request without its own. */
  readonly outputTokensMax?: number | undefined;
}

/** Returns the body for a route's provider. It requests usage at the end of a stream. */
export const bodyForRoute = (
  route: TokenRoute,
  body: RequestBody,
  { isStreamed, outputTokensMax }: BodyOptions,
): Buffer[] => {
  const { memberNames, outputLimitMember, alwaysReportsUsage } = kindOf(route.provider);
  return toUpstreamBody(body, {
    model: route.deployment,
    requestsUsage: isStreamed && !alwaysReportsUsage,
    outputTokensMax,
    outputLimitMember,
    memberNames,
  });
};

/**
 * Tries routes in order, as long as the previous one has definitely generated nothing. Throws the most informative failure
 * (see `failureToReport`). Calls `onFailed` for each route whose provider received the request but did not serve it.
 */
export const tryInOrder = async <R, T>(
  routes: readonly R[],
  attempt: (route: R) => Promise<T>,
  onFailed: (route: R) => void,
): Promise<T> => {
  let last: UpstreamFailure | undefined;
  for (const route of routes) {
    try {
      return await attempt(route);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.hasReachedProvider) onFailed(route);
      if (!error.allowsFallback) throw error;
      last = last === undefined ? error : failureToReport(last, error);
    }
  }
  throw last ?? new UpstreamFailure('unreachable');
};

/**
 * Chooses which of two failures to report. Prefers failures of providers to `held_back`, then the later one; but keeps
 * `busy` over `unreachable`, as it may have Retry-After. Of two held back, returns the one with the earlier retry.
 */
export const failureToReport = (first: UpstreamFailure, second: UpstreamFailure): UpstreamFailure => {
  if (second.reason === 'unreachable' && first.reason === 'busy') return first;
  if (second.reason !== 'held_back') return second;
  if (first.reason !== 'held_back') return first;
  return Number(first.retryAfter) <= Number(second.retryAfter) ? first : second;
};
