import { HOUR_MS, later } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';
import { digest, sourceDigest } from './attempt-digest.ts';
import { type AttemptThrottleDeps, tooManyAttempts } from './attempt-throttle.ts';
import { findAttemptThatFillsQuota, insertAttempt, lockQuota } from './queries.ts';

/** Limits how many accounts one source opens in an hour, over all replicas. Both methods throw `too_many_attempts`. */
export interface SignUpLimit {
  /** Checks that the source has a sign-up left, without taking it. */
  readonly check: (source: string) => Promise<void>;
  /** Takes one sign-up of the source. */
  readonly take: (source: string) => Promise<void>;
}

/** Creates the limit. */
export const createSignUpLimit = (
  deps: AttemptThrottleDeps & { database: Executor; signUpsPerHour: number },
): SignUpLimit => {
  const judge = async (executor: Executor, value: Buffer, now: Date): Promise<void> => {
    const quota = { column: 'source_digest', value, max: deps.signUpsPerHour, since: later(now, -HOUR_MS) } as const;
    const oldest = await findAttemptThatFillsQuota(executor, quota);
    if (oldest !== undefined) throw tooManyAttempts(later(oldest, HOUR_MS), now);
  };
  const takeIn = async (trx: Transaction, source: Buffer): Promise<void> => {
    const now = deps.clock();
    await lockQuota(trx, source);
    await judge(trx, source, now);
    await insertAttempt(trx, { addressDigest: digest('sign-up'), sourceDigest: source, attemptedAt: now });
  };
  return {
    check: (source) => judge(deps.database, sourceDigest('sign-up', source), deps.clock()),
    take: (source) => deps.transact((trx) => takeIn(trx, sourceDigest('sign-up', source))),
  };
};
