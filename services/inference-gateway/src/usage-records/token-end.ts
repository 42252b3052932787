import { costOfTokens } from '@svc/contracts';
import type { TokenRoute } from '../routes/index.ts';
import type { TokenUsage } from '../wire/index.ts';
import type { RequestEnd, ServedBy } from './usage-record.ts';

/** End of a request served by a route billed by tokens. */
export interface TokenEnd {
  readonly route: TokenRoute;
  readonly usage: TokenUsage;
  readonly isEstimated: boolean;
  /** False if a stream broke off before its final usage. */
  readonly isKnown: boolean;
  readonly upstreamModel: string | null;
  readonly upstreamRequestId: string | null;
  readonly firstEventMs: number | null;
  readonly finishedAtMs: number;
}

/** Builds the end of an answered request, at the price of its route. */
export const tokenEnd = (end: TokenEnd): RequestEnd => ({
  servedBy: servedBy(end.route),
  upstreamModel: end.upstreamModel,
  upstreamRequestId: end.upstreamRequestId,
  inputTokens: end.usage.input,
  outputTokens: end.usage.output,
  cachedInputTokens: end.usage.cachedInput ?? 0,
  reasoningTokens: end.usage.reasoning ?? 0,
  audioMs: null,
  isEstimated: end.isEstimated,
  outcome: end.isKnown ? 'settled' : 'uncertain',
  costMicros: costOfTokens(end.route.price, end.usage),
  status: 200,
  firstEventMs: end.firstEventMs,
  finishedAtMs: end.finishedAtMs,
});

/** Returns the parts of a route that are recorded. */
export const servedBy = (route: Pick<TokenRoute, 'id' | 'provider' | 'dataZone' | 'certification'>): ServedBy => ({
  routeId: route.id,
  provider: route.provider.name,
  dataZone: route.dataZone,
  certification: route.certification,
});
