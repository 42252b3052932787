import type { RequestOutcome } from '@svc/contracts';
import { type RequestEnd, type RequestIdentity, releasedEnd, toOutcome } from './usage-record.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Keeps the books of one admitted request: it ends once, whatever else happens. */
export interface RequestBook {
  readonly identity: RequestIdentity;
  /**
   * Ends the request: its record and fact are queued for the next transaction; where billing is to know at once, it is
   * told, for a moment's wait at most. Later ends are ignored. Never rejects.
   */
  readonly finish: (end: RequestEnd) => Promise<void>;
  /** Ends a request of which nothing is known but whether something may have been generated. */
  readonly finishFailed: (failed: { readonly isUncertain: boolean; readonly status: number }) => Promise<void>;
}

/** What a book is kept with. */
export interface RequestBookOptions {
  readonly identity: RequestIdentity;
  /** What the request costs if its outcome is never learnt. */
  readonly estimateMicros: number;
  readonly usage: UsageWriter;
  /** Tells billing at once; absent where the fact is soon enough. */
  readonly settle?: (requestId: string, outcome: RequestOutcome) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Opens the book of an admitted request. */
export const openRequestBook = (options: RequestBookOptions): RequestBook => {
  const { identity, usage, settle, clock } = options;
  let isFinished = false;
  const finish = async (end: RequestEnd): Promise<void> => {
    if (isFinished) return;
    isFinished = true;
    usage.add({ ...identity, ...end });
    await settle?.(identity.requestId, toOutcome(end));
  };
  return {
    identity,
    finish,
    finishFailed: ({ isUncertain, status }) => {
      const end = releasedEnd(status, clock());
      return finish(isUncertain ? { ...end, outcome: 'uncertain', costMicros: options.estimateMicros } : end);
    },
  };
};
