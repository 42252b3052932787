import type { RequestOutcome } from '@svc/contracts';
import { HANDLED, STATUS_CALLER_GONE } from '@svc/service-kit';
import { currentSpan, withinSpan } from '@svc/tracing';
import { servedBy } from './token-end.ts';
import { type RequestEnd, type RequestIdentity, releasedEnd, type ServedBy, toOutcome } from './usage-record.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Longer than a database takes to come back after a crash, and far shorter than callers wait for a model. */
const RECORD_TIMEOUT_MS = 10_000;

type AskedRoute = Parameters<typeof servedBy>[0];

/** Keeps the books of one admitted request: it ends once, whatever else happens. */
export interface RequestBook {
  readonly identity: RequestIdentity;
  /**
   * Ends the request: its record and fact are queued for the next transaction; where billing is to know at once, it is
   * told, for a moment's wait at most, or else the record is waited for. Later ends are ignored. Never rejects.
   */
  readonly finish: (end: RequestEnd) => Promise<void>;
  /** Notes whose provider had the request, for the record of one that nobody serves. */
  readonly noteAsked: (route: AskedRoute) => void;
  /** Ends a request of which nothing is known but whether something may have been generated. */
  readonly finishFailed: (failed: { readonly isUncertain: boolean; readonly status: number }) => Promise<void>;
}

/** What a book is kept with. */
export interface RequestBookOptions {
  readonly identity: RequestIdentity;
  /** What the request costs if its outcome is never learnt. */
  readonly estimateMicros: number;
  readonly usage: UsageWriter;
  /** Tells billing at once, and answers whether it knows; absent where the fact is soon enough. */
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
  let asked: ServedBy | null = null;
  const finish = async (end: RequestEnd): Promise<void> => {
    if (isFinished) return;
    isFinished = true;
    usage.add({ ...identity, ...end }, span);
    if (settle === undefined) return;
    const tell = () => settle(identity.requestId, toOutcome(end));
    const isTold = await (span === undefined ? tell() : withinSpan(span, tell));
    // An answer that nobody has kept books of would be forgotten with this process.
    if (!isTold) await usage.written(RECORD_TIMEOUT_MS);
  };
  return {
    identity,
    finish,
    noteAsked: (route) => {
      asked = servedBy(route);
    },
    finishFailed: ({ isUncertain, status }) => {
      const end = { ...releasedEnd(status, clock()), servedBy: asked };
      return finish(isUncertain ? { ...end, outcome: 'uncertain', costMicros: options.estimateMicros } : end);
    },
  };
};

/** Ends a request whose caller left while it was admitted: nothing was forwarded, and nobody is left to be answered. */
export const endUnsent = async (book: RequestBook): Promise<typeof HANDLED> => {
  await book.finishFailed({ isUncertain: false, status: STATUS_CALLER_GONE });
  return HANDLED;
};
