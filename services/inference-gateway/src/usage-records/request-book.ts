import { type Span, trace } from '@opentelemetry/api';
import { costOfTokens } from '@svc/contracts';
import { endSpan, HANDLED, STATUS_CALLER_GONE, withinSpan } from '@svc/service-kit';
import type { Settlement } from '../billing-client.ts';
import type { Spending } from '../leases/index.ts';
import type { TokenRoute } from '../provider-routes/index.ts';
import type { TokenUsage } from '../wire/index.ts';
import { usageAttributes } from './gen-ai.ts';
import { type RequestEnd, type RequestIdentity, releasedEnd, type ServedBy, toSettlement } from './usage-record.ts';
import type { UsageWriter } from './usage-writer.ts';

/** End of a request served by a route billed by tokens. */
interface TokenEnd {
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

/** Longer than a database needs to recover from a crash, and far shorter than callers wait for a model. */
const RECORD_TIMEOUT_MS = 10_000;
/** Recorded for a request whose process dies. */
const STATUS_PROCESS_DIED = 500;

type AttemptedRoute = Parameters<typeof servedBy>[0];

/** Bookkeeping of one admitted request, which ends exactly once. */
export interface RequestBook {
  readonly identity: RequestIdentity;
  /** Sets the measure of an API-key request's cost so far, which is also charged if the outcome stays unknown. */
  readonly measureBy: (costSoFarMicros: () => number) => void;
  /**
   * Ends the request: journals its outcome, queues its record and fact, and calls billing if `settle` is given. Waits for
   * the record if neither billing nor the journal has the outcome. Ignores later calls. Never rejects.
   */
  readonly finish: (end: RequestEnd) => Promise<void>;
  /** Notes the route whose provider received the request, for the record of a request that no provider serves. */
  readonly noteAttempt: (route: AttemptedRoute) => void;
  /** Takes over the span of the exchange with a provider, which ends with the request and carries its usage. */
  readonly keepSpan: (span: Span) => void;
  /** Ends a failed request. If it is uncertain, the provider may have generated something. */
  readonly finishFailed: (failed: { readonly isUncertain: boolean; readonly status: number }) => Promise<void>;
}

export interface RequestBookOptions {
  readonly identity: RequestIdentity;
  /** Part of a lease that an API-key request holds. Its end frees that at once. */
  readonly spending?: Spending | undefined;
  /** Cost charged if the outcome stays unknown; for API keys, only until `measureBy` is called. */
  readonly estimateMicros: number;
  readonly usage: UsageWriter;
  /** Reports the outcome to billing ahead of the fact. Omitted if the fact alone is soon enough. */
  readonly settle?: (settlement: Settlement) => Promise<boolean>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Opens the book of an admitted request. */
export const openRequestBook = (options: RequestBookOptions): RequestBook => {
  const { identity, usage, settle, spending, clock } = options;
  // Captured now: a stream ends in a callback of the provider's connection, outside of any trace.
  const span = trace.getActiveSpan();
  if (spending !== undefined) {
    const end = { ...releasedEnd(STATUS_PROCESS_DIED, identity.startedAtMs), costMicros: options.estimateMicros };
    usage.open({ ...identity, ...end, outcome: 'uncertain', lease: spending.lease });
  }
  let isFinished = false;
  let estimateMicros = (): number => options.estimateMicros;
  let lastAttempt: ServedBy | null = null;
  let upstreamSpan: Span | undefined;
  const finish = async (end: RequestEnd): Promise<void> => {
    if (isFinished) return;
    isFinished = true;
    spending?.end(toUse(end));
    upstreamSpan?.setAttributes(usageAttributes(end));
    endSpan(upstreamSpan, end.outcome === 'settled' ? undefined : end.outcome);
    upstreamSpan = undefined;
    const record = { ...identity, ...end, lease: spending?.lease ?? null };
    const isJournaled = usage.add(record, span);
    const report = () => settle?.(toSettlement(record)) ?? Promise.resolve(false);
    const isReported = await (span === undefined ? report() : withinSpan(span, report));
    // Otherwise a crash would lose the usage of a response that the caller already has.
    if (!isReported && !isJournaled) await usage.written(RECORD_TIMEOUT_MS);
  };
  return {
    identity,
    measureBy: (costSoFarMicros) => {
      // An app's request stays reserved at the estimate of its admission.
      if (identity.kind === 'api_key') estimateMicros = costSoFarMicros;
      spending?.measureBy(costSoFarMicros);
    },
    finish,
    noteAttempt: (route) => {
      lastAttempt = servedBy(route);
    },
    keepSpan: (kept) => {
      // The last exchange counts. One that answers after the request has ended counts for nothing.
      endSpan(upstreamSpan, 'unused');
      upstreamSpan = isFinished ? undefined : kept;
      if (isFinished) endSpan(kept, 'unused');
    },
    finishFailed: ({ isUncertain, status }) => {
      const end = { ...releasedEnd(status, clock()), servedBy: lastAttempt };
      return finish(isUncertain ? { ...end, outcome: 'uncertain', costMicros: estimateMicros() } : end);
    },
  };
};

/** Returns what a request has used of its lease. */
const toUse = ({ outcome, costMicros, inputTokens, outputTokens }: RequestEnd) => {
  const tokens = inputTokens === null ? null : inputTokens + (outputTokens ?? 0);
  return { micros: costMicros, tokens: outcome === 'released' ? 0 : outcome === 'settled' ? tokens : null };
};

/** Ends a request whose caller disconnected during admission. Nothing was forwarded, and no response is needed. */
export const endUnsent = async (book: RequestBook): Promise<typeof HANDLED> => {
  await book.finishFailed({ isUncertain: false, status: STATUS_CALLER_GONE });
  return HANDLED;
};
