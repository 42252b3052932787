import { AppError, type Clock } from '@svc/service-kit';
import { later, MINUTE_MS, SECOND_MS } from '../time.ts';
import type { Transact } from '../transact.ts';
import { digest, sourceDigest } from './attempt-digest.ts';
import { deleteAttemptsOn, findAttemptThatFillsQuota, insertAttempt, lockQuota } from './queries.ts';

/** Failures within the window for one address, one known device or one session. */
const FAILURES_PER_SUBJECT_MAX = 10;
/** Failures within the window for one source: an office behind one address has many people. */
const FAILURES_PER_SOURCE_MAX = 200;
const WINDOW_MS = 15 * MINUTE_MS;

/**
 * Caller that attempts to prove something, and so the budget that a failure spends. A stranger spends that of the source
 * and, if one is named, of the account's address. A device that has signed in to the account before, and the holder of a
 * session, spend budgets that no stranger can touch.
 */
export type AttemptSubject =
  | { readonly email?: string; readonly source: string }
  | { readonly deviceId: string; readonly userId: string }
  | { readonly sessionId: string; readonly email: string };

/**
 * An attempt that was let in. Its outcome is judged by the quotas again before it is answered: a hundred parallel guesses get
 * no more answers than a hundred in a row. Both methods throw as `begin`.
 */
export interface Attempt {
  /** Counts it as failed. */
  readonly fail: () => Promise<void>;
  /** Lets it pass; the caller gets nothing before this has resolved. */
  readonly succeed: () => Promise<void>;
}

/** Counts failed attempts in the database, for all replicas and across restarts. */
export interface AttemptThrottle {
  /** Throws `too_many_attempts` with `Retry-After` if a quota is used up. */
  readonly begin: (subject: AttemptSubject) => Promise<Attempt>;
  /** Forgets the failures of strangers on an address, once its owner has proved to receive mail there. */
  readonly forgive: (email: string) => Promise<void>;
}

export interface AttemptThrottleDeps {
  readonly transact: Transact;
  readonly clock: Clock;
}

interface Quota {
  readonly column: 'address_digest' | 'source_digest';
  readonly value: Buffer;
  readonly max: number;
}

/** Creates the throttle. */
export const createAttemptThrottle = (deps: AttemptThrottleDeps): AttemptThrottle => ({
  begin: async (subject) => {
    const { quotas, digests } = budgetOf(subject);
    const judge = (hasFailed: boolean): Promise<void> =>
      deps.transact(async (trx) => {
        const now = deps.clock();
        for (const quota of quotas) {
          await lockQuota(trx, quota.value);
          const oldest = await findAttemptThatFillsQuota(trx, { ...quota, since: later(now, -WINDOW_MS) });
          if (oldest !== undefined) throw tooManyAttempts(later(oldest, WINDOW_MS), now);
        }
        if (hasFailed) await insertAttempt(trx, { ...digests, attemptedAt: now });
      });
    await judge(false);
    return { fail: () => judge(true), succeed: () => judge(false) };
  },
  forgive: (email) => deps.transact((trx) => deleteAttemptsOn(trx, digest(`address:${email}`))),
});

interface AttemptDigests {
  readonly addressDigest: Buffer;
  readonly sourceDigest: Buffer;
}

/** Digests that a failure is stored under, and the quotas that decide; a row of the table can count for two of them. */
const budgetOf = (subject: AttemptSubject): { digests: AttemptDigests; quotas: Quota[] } => {
  const perAddress = (value: Buffer): Quota => ({ column: 'address_digest', value, max: FAILURES_PER_SUBJECT_MAX });
  if ('deviceId' in subject) {
    const address = digest(`device:${subject.userId}.${subject.deviceId}`);
    return { digests: { addressDigest: address, sourceDigest: digest('source:') }, quotas: [perAddress(address)] };
  }
  if ('sessionId' in subject) {
    // Guesses with a session also close the address to strangers; strangers' guesses do not close it to the session.
    const session = digest(`session:${subject.sessionId}`);
    return {
      digests: { addressDigest: digest(`address:${subject.email}`), sourceDigest: session },
      quotas: [{ column: 'source_digest', value: session, max: FAILURES_PER_SUBJECT_MAX }],
    };
  }
  const { email, source } = subject;
  const digests = { addressDigest: digest(`address:${email ?? ''}`), sourceDigest: sourceDigest('source', source) };
  const perSource: Quota = { column: 'source_digest', value: digests.sourceDigest, max: FAILURES_PER_SOURCE_MAX };
  return { digests, quotas: email === undefined ? [perSource] : [perAddress(digests.addressDigest), perSource] };
};

/** Makes the refusal, with the seconds until a place is free. */
export const tooManyAttempts = (until: Date, now: Date): AppError => {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / SECOND_MS));
  return new AppError('too_many_attempts', undefined, { headers: { 'retry-after': String(seconds) } });
};
