import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { AppError } from '@svc/service-kit';
import { type Clock, later, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { ipv6Groups, unmapIpv4 } from '../network-address.ts';
import type { Transact } from '../transact.ts';
import { findAttemptThatFillsQuota, insertAttempt, lockQuota } from './queries.ts';

/** Failures of one address that are borne within the window. */
const FAILURES_PER_ADDRESS_MAX = 10;
/** Failures of one source that are borne within the window: an office behind one address has many people. */
const FAILURES_PER_SOURCE_MAX = 200;
const WINDOW_MS = 15 * MINUTE_MS;

/** Who tries what: the account's address, where there is one, and the network address that the request came from. */
export interface AttemptSubject {
  email?: string;
  source: string;
}

/**
 * An attempt that passed the door. Its outcome is judged by the quotas again, and only then told: of a hundred parallel
 * guesses no more are answered than of a hundred in a row, and what is still under way counts for nothing. Both throw as `begin`.
 */
export interface Attempt {
  /** Counts it as failed. */
  fail: () => Promise<void>;
  /** Lets it pass; to be asked before whoever made it gets what they wanted. */
  succeed: () => Promise<void>;
}

/** Counts failed attempts in the database, so that neither a restart nor another replica forgets them. */
export interface AttemptThrottle {
  /** Throws `too_many_attempts` with `Retry-After` where a quota is used up. */
  begin: (subject: AttemptSubject) => Promise<Attempt>;
}

/** What the throttle needs. */
export interface AttemptThrottleDeps {
  transact: Transact;
  clock: Clock;
}

/** Creates the throttle. */
export const createAttemptThrottle = (deps: AttemptThrottleDeps): AttemptThrottle => ({
  begin: async (subject) => {
    const digests = {
      // Without an address the attempt only counts for its source.
      address: digest(subject.email === undefined ? 'address:' : `address:${subject.email}`),
      source: digest(`source:${coarseSource(subject.source)}`),
    };
    const quotas = [
      ...(subject.email === undefined
        ? []
        : [{ column: 'address_digest' as const, value: digests.address, max: FAILURES_PER_ADDRESS_MAX }]),
      { column: 'source_digest' as const, value: digests.source, max: FAILURES_PER_SOURCE_MAX },
    ];
    const judge = (hasFailed: boolean): Promise<void> =>
      deps.transact(async (trx) => {
        const now = deps.clock();
        for (const quota of quotas) {
          await lockQuota(trx, quota.value);
          const oldest = await findAttemptThatFillsQuota(trx, { ...quota, since: later(now, -WINDOW_MS) });
          if (oldest !== undefined) throw tooManyAttempts(later(oldest, WINDOW_MS), now);
        }
        if (hasFailed) await insertAttempt(trx, { ...digests, now });
      });
    await judge(false);
    return { fail: () => judge(true), succeed: () => judge(false) };
  },
});

const tooManyAttempts = (until: Date, now: Date): AppError => {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / SECOND_MS));
  return new AppError('too_many_attempts', undefined, { headers: { 'retry-after': String(seconds) } });
};

/** Only a digest is kept: what people type as an address can be anything, even a password. */
const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** One IPv6 subscriber owns a whole /64. */
const coarseSource = (address: string): string => {
  const plain = unmapIpv4(address);
  return isIPv6(plain) ? ipv6Groups(plain).slice(0, 4).join(':') : plain;
};
