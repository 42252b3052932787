import { costOfTokens } from '@svc/contracts';
import type { Logger } from '@svc/service-kit';
import type { TokenRoute } from '../provider-routes/index.ts';
import { kindOf } from '../providers/index.ts';
import type { UpstreamFailure } from '../upstream-failure.ts';
import { type RequestEnd, tokenEnd } from '../usage-records/index.ts';
import {
  boundInputTokens,
  estimateInputTokens,
  estimateUsage,
  type OutputBounds,
  type ReportedUsage,
  type TokenUsage,
} from '../wire/index.ts';
import type { ForwardingDeps } from './forwarding-deps.ts';
import type { HeldRequest } from './read-request.ts';
import type { UpstreamNames } from './response-shape.ts';

/** The parts of a request that bound its usage. */
export type RequestBounds = Pick<HeldRequest, 'input' | keyof OutputBounds>;

/** Smallest output that a request without its own limit is served with. */
export const FITTED_TOKENS_MIN = 256;

/** Returns true if the output of a request can be fitted to what is left: it generates text, and sets no limit. */
export const canBeFitted = ({ outputTokensMax, choicesWanted }: RequestBounds): boolean =>
  outputTokensMax === undefined && choicesWanted > 0;

/**
 * Returns the maximum output tokens of a request on a route: its own limit, else the route's or the given lower one, and what
 * it allows the model to generate beyond that, within the route's context.
 */
export const outputTokensOf = (
  { outputTokensMax, outputTokensMin, outputTokensExtra, choicesWanted }: RequestBounds,
  route: TokenRoute,
  limitMax: number = Number.POSITIVE_INFINITY,
): number => {
  const limit = Math.max(outputTokensMax ?? Math.min(route.outputTokensMax, limitMax), outputTokensMin);
  return Math.min(limit + outputTokensExtra, route.contextTokensMax) * choicesWanted;
};

/** Returns the maximum tokens that a request can cost on a route, optionally with an output limit for one without its own. */
export const holdTokens = (request: HeldRequest, route: TokenRoute, limitMax?: number): TokenUsage => ({
  input: boundInputTokens(request.input, kindOf(route.provider)),
  output: outputTokensOf(request, route, limitMax),
});

/** Returns the maximum cost of a request over all its routes, optionally with an output limit for one without its own. */
export const holdOf = (request: HeldRequest, candidates: readonly TokenRoute[], limitMax?: number): number =>
  Math.max(...candidates.map((route) => costOfTokens(route.price, holdTokens(request, route, limitMax))));

const TOKENS_PER_PRICE = 1_000_000n;

/**
 * Returns the limit of each choice's output that an amount pays after the maximum input; undefined if no limit is needed.
 * Negative if it does not pay the input.
 */
export const affordableOutput = (request: HeldRequest, route: TokenRoute, amountMicros: number): number | undefined => {
  const { price } = route;
  const tokens = holdTokens(request, route);
  if (costOfTokens(price, tokens) <= amountMicros) return undefined;
  const rest = BigInt(amountMicros) * TOKENS_PER_PRICE - BigInt(tokens.input) * BigInt(price.input_micros_per_million);
  if (rest < 0n || price.output_micros_per_million === 0) return -1;
  return (
    Math.floor(Number(rest / BigInt(price.output_micros_per_million)) / request.choicesWanted) -
    request.outputTokensExtra
  );
};

/** Progress of a response. */
interface ResponseProgress {
  readonly route: TokenRoute;
  readonly reported: ReportedUsage;
  readonly outputBytes: number;
}

/** Returns the output tokens that a request itself allows; infinite if it sets no limit. */
export const ownOutputLimit = (request: RequestBounds, route: TokenRoute): number =>
  request.outputTokensMax === undefined ? Number.POSITIVE_INFINITY : outputTokensOf(request, route);

/** Returns the reported usage, or `implausible` if its output exceeds the request's own limit. */
const checkedUsage = (
  request: RequestBounds,
  { route, reported }: Pick<ResponseProgress, 'route' | 'reported'>,
): ReportedUsage =>
  typeof reported === 'object' && reported.output > ownOutputLimit(request, route) ? 'implausible' : reported;

/**
 * Returns the usage reported so far, else an estimate from the bytes: at most what the request allows, and at most the hold
 * if the provider reported the impossible.
 */
export const usageSoFar = (request: RequestBounds, progress: ResponseProgress): TokenUsage => {
  const reported = checkedUsage(request, progress);
  if (typeof reported === 'object') return reported;
  const { route, outputBytes } = progress;
  const { input, output } = estimateUsage(estimateInputTokens(request.input, kindOf(route.provider)), outputBytes);
  const outputMax = reported === 'implausible' ? outputTokensOf(request, route) : ownOutputLimit(request, route);
  return { input, output: Math.min(output, outputMax) };
};

/** Returns the cost of the usage so far at the price of the route. */
export const costSoFar = (request: RequestBounds, progress: ResponseProgress): number =>
  costOfTokens(progress.route.price, usageSoFar(request, progress));

/** A complete or interrupted response, with the usage that its provider reported. */
interface ServedResponse {
  readonly route: TokenRoute;
  readonly reported: ReportedUsage;
  readonly outputBytes: number;
  readonly names: UpstreamNames;
  readonly isWhole: boolean;
  /** True if the reported usage is that of the whole response, even if a stream broke off after it. */
  readonly isUsageFinal: boolean;
  readonly firstEventMs: number | null;
}

interface Served {
  readonly request: HeldRequest;
  readonly context: { readonly log: Logger };
}

/** Builds the end of an answered request. Charges by bytes if the usage is implausible, and counts that for an alert. */
export const servedEnd = (
  { meters, clock }: Pick<ForwardingDeps, 'meters' | 'clock'>,
  { request, context }: Served,
  served: ServedResponse,
): RequestEnd => {
  const { route, outputBytes } = served;
  const reported = checkedUsage(request, served);
  if (reported === 'implausible') {
    meters.implausibleUsage.inc({ route: route.id });
    context.log.error({ upstream_route: route.id }, 'the provider reported an implausible usage');
  }
  return tokenEnd({
    route,
    usage: usageSoFar(request, { route, reported, outputBytes }),
    isEstimated: typeof reported !== 'object',
    isKnown: served.isWhole || (served.isUsageFinal && typeof reported === 'object'),
    upstreamModel: served.names.upstreamModel,
    upstreamRequestId: served.names.upstreamRequestId,
    firstEventMs: served.firstEventMs,
    finishedAtMs: clock(),
  });
};

/** Builds the end of a request whose response exceeds the limits. The provider has served it, so it is charged by bytes, at most its hold. */
export const withheldEnd = (
  request: HeldRequest,
  response: { readonly route: TokenRoute; readonly failure: UpstreamFailure; readonly clock: () => number },
): RequestEnd => {
  const { route, failure, clock } = response;
  const end = tokenEnd({
    route,
    usage: usageSoFar(request, { route, reported: 'implausible', outputBytes: failure.bytesRead }),
    isEstimated: true,
    isKnown: true,
    upstreamModel: null,
    upstreamRequestId: null,
    firstEventMs: null,
    finishedAtMs: clock(),
  });
  return { ...end, status: 502 };
};
