import type { Readable } from 'node:stream';
import { type Span, SpanKind, trace } from '@opentelemetry/api';
import type { ProviderKindName } from '@svc/contracts';
import { endSpan, type Logger, tracer } from '@svc/service-kit';
import { CommonHeaders, type HttpClient } from '../http-client/index.ts';
import type { Provider, Route, TokenRoute } from '../routes/index.ts';
import { toDispatchedFailure, UpstreamFailure } from '../upstream-failure.ts';
import { operationName } from '../usage-records/index.ts';
import { REWRITTEN_MEMBERS, type RequestBody, toUpstreamBody } from '../wire/index.ts';
import {
  commonWire,
  openUpstream,
  readRefusal,
  type UpstreamAnswer,
  type UpstreamLimits,
  type UpstreamRequest,
} from './common-wire/index.ts';
import { mistral } from './mistral/mistral.ts';
import type { ProviderKind } from './provider-kind.ts';
import type { RouteVerdict } from './route-gate.ts';
import type { RouteGates } from './route-gates.ts';

/** Azure OpenAI, with its v1 or dated API. See the README of this folder. */
const azureOpenai: ProviderKind = {
  ...commonWire,
  keyHeaders: (apiKey) => ({ 'api-key': apiKey }),
  pathOf: (endpoint, { provider, deployment }: Route) =>
    provider.apiVersion === undefined
      ? endpoint
      : `/deployments/${deployment}${endpoint}?api-version=${provider.apiVersion}`,
  // Two services set ids. Azure support needs the id of the outer one.
  requestIdHeaders: { primary: ['apim-request-id'], secondary: ['x-request-id', 'x-ms-request-id'] },
  // Reasoning models reject `max_tokens`.
  outputLimitMember: 'max_completion_tokens',
  // GPT-4o mini: 2,833 tokens per image, plus 5,667 for each of at most eight tiles. Every other model counts fewer.
  imageTokensMax: 48_169,
};

/** Rules of each kind. The README in the kind's folder names their sources. */
const KINDS: Readonly<Record<ProviderKindName, ProviderKind>> = {
  common: commonWire,
  'azure-openai': azureOpenai,
  mistral,
  ovhcloud: commonWire,
  scaleway: commonWire,
  vllm: commonWire,
};

/** Request members that some kind of provider renames or rejects, and their new names. */
const RENAMED_MEMBERS: readonly string[] = Object.values(KINDS).flatMap(({ memberNames }) =>
  Object.entries(memberNames).flatMap(([name, renamed]) => (renamed === null ? [name] : [name, renamed])),
);

/** Returns the rules for a provider's `kind` in the routes file. */
export const kindOf = ({ kind }: Pick<Provider, 'kind'>): ProviderKind => KINDS[kind];

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
  /** True if the answer must be a stream. */
  readonly isStreamed: boolean;
  /** An object rather than the logger itself, because `log` is a getter that creates it. */
  readonly logging: { readonly log: Logger };
  /** Takes over the span of a successful exchange. */
  readonly keepSpan: (exchange: Span) => void;
  /** Called when the connection no longer uses the pieces of the body. */
  readonly onFlushed?: () => void;
  /** Replaces the first-byte timeout for a body that is still being written. */
  readonly giveUp?: AbortSignal;
}

/**
 * Sends a request to a route's provider and returns a successful answer, a stream if requested. Throws UpstreamFailure;
 * `held_back` if the route accepts no requests now.
 */
export const sendToRoute = async (deps: UpstreamDeps, request: RouteRequest): Promise<UpstreamAnswer> => {
  // The certification may have expired since the route was chosen: admission and other attempts take time.
  if (deps.clock() >= request.route.certifiedUntilMs) throw new UpstreamFailure('held_back');
  const permit = deps.gates.enter(request.route);
  const span = trace.getActiveSpan() === undefined ? undefined : beginExchange(request.route);
  let verdict: RouteVerdict = 'unknown';
  try {
    const answer = await exchange(deps, request, permit.leave).catch((error: unknown) => {
      throw toDispatchedFailure(error);
    });
    verdict = 'served';
    if (span !== undefined) request.keepSpan(span);
    return answer;
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
const beginExchange = ({ id, provider, service, upstreamModel }: Route): Span => {
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

const exchange = async (deps: UpstreamDeps, request: RouteRequest, onClosed: () => void): Promise<UpstreamAnswer> => {
  const { route, isStreamed, body, giveUp, onFlushed } = request;
  const answer = await openUpstream(
    deps.providers,
    { ...targetOf(request), body, giveUp, onClosed, onFlushed },
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

/** Members of a request that some kind of provider needs rewritten, so their offsets must be known. */
export const FORWARDED_MEMBERS: ReadonlySet<string> = new Set([...REWRITTEN_MEMBERS, ...RENAMED_MEMBERS]);

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
