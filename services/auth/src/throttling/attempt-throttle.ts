import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { AppError } from '@svc/service-kit';
import { type Clock, later, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { ipv6Groups, unmapIpv4 } from '../network-address.ts';
import type { Transact } from '../transact.ts';
import { deleteAttempt, findAttemptThatFillsQuota, insertAttempt, lockQuota } from './queries.ts';

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

/** An attempt that counts as failed until it is told otherwise, so that a hundred parallel guesses count as a hundred. */
export interface Attempt {
  /** Takes the attempt out of the count. */
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
    const now = deps.clock();
    const since = later(now, -WINDOW_MS);
    const source = digest(`source:${coarseSource(subject.source)}`);
    // Without an address the attempt only counts for its source.
    const address = subject.email === undefined ? digest('address:') : digest(`address:${subject.email}`);
    const id = await deps.transact(async (trx) => {
      const quotas = [
        ...(subject.email === undefined
          ? []
          : [{ column: 'address_digest' as const, value: address, max: FAILURES_PER_ADDRESS_MAX }]),
        { column: 'source_digest' as const, value: source, max: FAILURES_PER_SOURCE_MAX },
      ];
      for (const quota of quotas) {
        await lockQuota(trx, quota.value);
        const oldest = await findAttemptThatFillsQuota(trx, { ...quota, since });
        if (oldest !== undefined) throw tooManyAttempts(later(oldest, WINDOW_MS), now);
      }
      return await insertAttempt(trx, { address, source, now });
    });
    return { succeed: () => deps.transact((trx) => deleteAttempt(trx, id)) };
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
