import type { RequestOutcome } from '@svc/contracts';
import { HANDLED, STATUS_CALLER_GONE } from '@svc/service-kit';
import { currentSpan, withinSpan } from '@svc/tracing';
import type { Holder } from '../holder/index.ts';
import { servedBy } from './token-end.ts';
import { type RequestEnd, type RequestIdentity, releasedEnd, type ServedBy, toOutcome } from './usage-record.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Longer than a database takes to come back after a crash, and far shorter than callers wait for a model. */
const RECORD_TIMEOUT_MS = 10_000;

type AttemptedRoute = Parameters<typeof servedBy>[0];

/** Keeps the books of one admitted request: it ends once, whatever else happens. */
export interface RequestBook {
  readonly identity: RequestIdentity;
  /** Reports to billing, until the request ends, what it has cost so far. */
  readonly reportTo: (holder: Pick<Holder, 'follow'>) => void;
  /** Measures what an API-key request has cost so far; its last measure is the estimate of an unknown outcome. */
  readonly measureBy: (costSoFarMicros: () => number) => void;
  /**
   * Ends the request: journals its outcome, queues its record and fact, and calls billing if `settle` is given. If neither billing
   * nor the journal has the outcome, waits for the record. Ignores later ends. Never rejects.
   */
  readonly finish: (end: RequestEnd) => Promise<void>;
  /** Notes whose provider had the request, for the record of one that nobody serves. */
  readonly noteAttempt: (route: AttemptedRoute) => void;
  /** Ends a request of which nothing is known but whether something may have been generated. */
  readonly finishFailed: (failed: { readonly isUncertain: boolean; readonly status: number }) => Promise<void>;
}

export interface RequestBookOptions {
  readonly identity: RequestIdentity;
  /** The cost of an unknown outcome; of an API-key request, until its provider has sent something. */
  readonly estimateMicros: number;
  readonly usage: UsageWriter;
  /** Reports the outcome to billing ahead of the fact; absent if the fact is soon enough. */
  readonly settle?: (requestId: string, outcome: RequestOutcome) => Promise<boolean>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Opens the book of an admitted request. */
export const openRequestBook = (options: RequestBookOptions): RequestBook => {
  const { identity, usage, settle, clock } = options;
  // A stream ends on the provider's connection, which belongs to no trace.
  const span = currentSpan();
  let isFinished = false;
  let endReports = (): void => {};
  let estimateMicros = (): number => options.estimateMicros;
  let asked: ServedBy | null = null;
  const finish = async (end: RequestEnd): Promise<void> => {
    if (isFinished) return;
    isFinished = true;
    endReports();
    const isJournaled = usage.add({ ...identity, ...end }, span);
    if (settle === undefined) return;
    const tell = () => settle(identity.requestId, toOutcome(end));
    const isTold = await (span === undefined ? tell() : withinSpan(span, tell));
    // Without journal and billing, a crash would lose the usage of an answer that its caller already has.
    if (!isTold && !isJournaled) await usage.written(RECORD_TIMEOUT_MS);
  };
  return {
    identity,
    reportTo: (holder) => {
      endReports = holder.follow({ requestId: identity.requestId, estimateMicros: () => estimateMicros() });
    },
    measureBy: (costSoFarMicros) => {
      // What stays reserved of an app's request is the estimate of its admission.
      if (identity.kind === 'api_key') estimateMicros = costSoFarMicros;
    },
    finish,
    noteAttempt: (route) => {
      asked = servedBy(route);
    },
    finishFailed: ({ isUncertain, status }) => {
      const end = { ...releasedEnd(status, clock()), servedBy: asked };
      return finish(isUncertain ? { ...end, outcome: 'uncertain', costMicros: estimateMicros() } : end);
    },
  };
};

/** Ends a request whose caller left while it was admitted: nothing was forwarded, and no answer is needed. */
export const endUnsent = async (book: RequestBook): Promise<typeof HANDLED> => {
  await book.finishFailed({ isUncertain: false, status: STATUS_CALLER_GONE });
  return HANDLED;
};
