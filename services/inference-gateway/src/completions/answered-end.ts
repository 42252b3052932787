import type { Logger } from '@svc/service-kit';
import type { TokenRoute } from '../routes/index.ts';
import type { UpstreamFailure } from '../upstream-failure.ts';
import { type RequestEnd, tokenEnd } from '../usage-records/index.ts';
import type { ReportedUsage } from '../wire/index.ts';
import type { UpstreamNames } from './answer-shape.ts';
import type { ForwardingDeps } from './forwarding-deps.ts';
import type { CompletionRequest } from './read-request.ts';
import { checkedUsage, usageSoFar } from './request-cost.ts';

/** A complete or interrupted answer, with the usage that its provider reported. */
export interface ServedAnswer {
  readonly route: TokenRoute;
  readonly reported: ReportedUsage;
  readonly outputBytes: number;
  readonly names: UpstreamNames;
  readonly isWhole: boolean;
  /** True if the reported usage is that of the whole answer, even if a stream broke off after it. */
  readonly isUsageFinal: boolean;
  readonly firstEventMs: number | null;
}

interface Answered {
  readonly request: CompletionRequest;
  readonly exchange: { readonly log: Logger };
}

/** Builds the end of an answered request. Charges by bytes if the usage is implausible, and counts that for an alert. */
export const answeredEnd = (
  { meters, clock }: Pick<ForwardingDeps, 'meters' | 'clock'>,
  { request, exchange }: Answered,
  served: ServedAnswer,
): RequestEnd => {
  const { route, outputBytes } = served;
  const reported = checkedUsage(request, served);
  if (reported === 'implausible') {
    meters.implausibleUsage.inc({ route: route.id });
    exchange.log.error({ upstream_route: route.id }, 'the provider reported an implausible usage');
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

/** Builds the end of a request whose answer exceeds the limits. The provider has served it, so it is charged by bytes, at most its hold. */
export const withheldEnd = (
  request: CompletionRequest,
  answer: { readonly route: TokenRoute; readonly failure: UpstreamFailure; readonly clock: () => number },
): RequestEnd => {
  const { route, failure, clock } = answer;
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
