import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { AppError, type Clock } from '@svc/service-kit';
import { ipv6Groups, unmapIpv4 } from '../network-address.ts';
import { later, MINUTE_MS, SECOND_MS } from '../time.ts';
import type { Transact } from '../transact.ts';
import { deleteAttemptsOn, findAttemptThatFillsQuota, insertAttempt, lockQuota } from './queries.ts';

/**
 * Digests the subject of an attempt. People type anything as an address, even a password, so only digests are stored.
 */
export const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Action that is limited per source. */
export type LimitedPurpose = 'sign-up' | 'password-reset' | 'client-document' | 'invitation';

/** Digests a network address. An IPv6 subscriber owns a whole /64, so that counts as one. */
export const sourceDigest = (purpose: 'source' | 'device-code' | LimitedPurpose, address: string): Buffer => {
  const plain = unmapIpv4(address);
  return digest(`${purpose}:${isIPv6(plain) ? ipv6Groups(plain).slice(0, 4).join(':') : plain}`);
};

/** Maximum failures per window for one address, known device or session. */
const FAILURES_PER_SUBJECT_MAX = 10;
/** Maximum failures per window for one source: many people may share an office's address. */
const FAILURES_PER_SOURCE_MAX = 200;
const WINDOW_MS = 15 * MINUTE_MS;

/**
 * Subject of an attempt, and so the budget that a failure spends. A stranger spends that of the source and, if an
 * address is named, of the account. A known device and the holder of a session have separate budgets, which strangers
 * cannot spend.
 */
export type AttemptSubject =
  | { readonly email?: string; readonly source: string }
  | { readonly deviceId: string; readonly userId: string }
  | { readonly sessionId: string; readonly email: string };

/**
 * An admitted attempt. The quotas judge its outcome again before it is answered, so that a hundred parallel guesses get
 * no more answers than a hundred in sequence. Both methods throw as `begin`.
 */
export interface Attempt {
  /** Counts the attempt as failed. */
  readonly fail: () => Promise<void>;
  /** Accepts the attempt. Await it before answering the caller. */
  readonly succeed: () => Promise<void>;
}

/** Counts failed attempts in the database, across replicas and restarts. */
export interface AttemptThrottle {
  /** Throws `too_many_attempts` with `Retry-After` if a quota is used up. */
  readonly begin: (subject: AttemptSubject) => Promise<Attempt>;
  /** Deletes the failures of strangers on an address, once its owner has proved to receive mail there. */
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
  begin: (subject) => beginAttempt(deps, { ...budgetOf(subject), windowMs: WINDOW_MS }),
  forgive: (email) => deps.transact((trx) => deleteAttemptsOn(trx, digest(`address:${email}`))),
});

/** The quotas that judge an attempt, in the order of their locks, and the digests under which its failure is stored. */
export interface AttemptBudget {
  readonly quotas: readonly Quota[];
  readonly digests: AttemptDigests;
  readonly windowMs: number;
}

/** Admits an attempt. Throws `too_many_attempts` with `Retry-After` if a quota is used up. */
export const beginAttempt = async (
  deps: AttemptThrottleDeps,
  { quotas, digests, windowMs }: AttemptBudget,
): Promise<Attempt> => {
  const judge = (hasFailed: boolean): Promise<void> =>
    deps.transact(async (trx) => {
      const now = deps.clock();
      for (const quota of quotas) {
        await lockQuota(trx, quota.value);
        const oldest = await findAttemptThatFillsQuota(trx, { ...quota, since: later(now, -windowMs) });
        if (oldest !== undefined) throw tooManyAttempts(later(oldest, windowMs), now);
      }
      if (hasFailed) await insertAttempt(trx, { ...digests, attemptedAt: now });
    });
  await judge(false);
  return { fail: () => judge(true), succeed: () => judge(false) };
};

interface AttemptDigests {
  readonly addressDigest: Buffer;
  readonly sourceDigest: Buffer;
}

/**
 * Returns the digests under which a failure is stored, and the quotas that decide. One row can count for two of them.
 */
const budgetOf = (subject: AttemptSubject): { digests: AttemptDigests; quotas: Quota[] } => {
  const perAddress = (value: Buffer): Quota => ({ column: 'address_digest', value, max: FAILURES_PER_SUBJECT_MAX });
  if ('deviceId' in subject) {
    const address = digest(`device:${subject.userId}.${subject.deviceId}`);
    return { digests: { addressDigest: address, sourceDigest: digest('source:') }, quotas: [perAddress(address)] };
  }
  if ('sessionId' in subject) {
    // Guesses within a session also lock out strangers for the address. Guesses of strangers do not lock out the
    // session.
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

/** Creates the refusal, with the seconds until a place is free. */
export const tooManyAttempts = (until: Date, now: Date): AppError => {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / SECOND_MS));
  return new AppError('too_many_attempts', undefined, { headers: { 'retry-after': String(seconds) } });
};
