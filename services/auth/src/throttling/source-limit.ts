import { HOUR_MS, later } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';
import {
  type AttemptThrottleDeps,
  digest,
  type LimitedPurpose,
  sourceDigest,
  tooManyAttempts,
} from './attempt-throttle.ts';
import { findAttemptThatFillsQuota, insertAttempt, lockQuota } from './queries.ts';

/** Limits how often one source does something per hour, across replicas. Both methods throw `too_many_attempts`. */
export interface SourceLimit {
  /** Checks that the source has a place left, without taking it. */
  readonly check: (source: string) => Promise<void>;
  /** Takes a place of the source. */
  readonly take: (source: string) => Promise<void>;
}

/** Creates the limit. */
export const createSourceLimit = (
  deps: AttemptThrottleDeps & { database: Executor; purpose: LimitedPurpose; perHour: number },
): SourceLimit => {
  const judge = async (executor: Executor, value: Buffer, now: Date): Promise<void> => {
    const quota = { column: 'source_digest', value, max: deps.perHour, since: later(now, -HOUR_MS) } as const;
    const oldest = await findAttemptThatFillsQuota(executor, quota);
    if (oldest !== undefined) throw tooManyAttempts(later(oldest, HOUR_MS), now);
  };
  const takeIn = async (trx: Transaction, source: Buffer): Promise<void> => {
    const now = deps.clock();
    await lockQuota(trx, source);
    await judge(trx, source, now);
    await insertAttempt(trx, { addressDigest: digest(deps.purpose), sourceDigest: source, attemptedAt: now });
  };
  return {
    check: (source) => judge(deps.database, sourceDigest(deps.purpose, source), deps.clock()),
    take: (source) => deps.transact((trx) => takeIn(trx, sourceDigest(deps.purpose, source))),
  };
};
