import { hash } from 'node:crypto';
import { snakeKeys } from '@svc/database';
import { AppError, type Clock } from '@svc/service-kit';
import { createKeyedQueues, type KeyedQueues } from './bounded-queue.ts';
import { subscriberOf } from './network-address.ts';
import { HOUR_MS, later, MINUTE_MS, SECOND_MS } from './time.ts';
import type { Executor, Transact, Transaction } from './transact.ts';

/** Serializes attempts on one quota until the transaction ends, so that none is added between counting and storing. */
const lockQuota = async (trx: Transaction, digest: Buffer): Promise<void> => {
  await trx.raw('SELECT pg_advisory_xact_lock(?::bigint)', [digest.readBigInt64BE().toString()]);
};

/** A wait for a lock holds one of the process's few connections, so attempts on one quota wait here instead. */
const TURNS = { runningMax: 1, waitingMax: 1_000, refusal: 'Too many attempts at one time. Try again in a moment.' };

/** Runs work once no other of these turns holds one of the quotas. */
const inTurns = <T>(turns: KeyedQueues, quotas: readonly Pick<Quota, 'value'>[], work: () => Promise<T>): Promise<T> =>
  quotas.reduceRight(
    (inner, { value }) =>
      () =>
        turns(value.toString('base64'), inner),
    work,
  )();

/** Most attempts with one digest. */
interface Quota {
  readonly column: 'address_digest' | 'source_digest';
  readonly value: Buffer;
  readonly max: number;
}

/**
 * Returns the time of the oldest of the last `max` attempts; undefined if there are fewer. A place is free once that is
 * old enough.
 */
const findAttemptThatFillsQuota = async (
  executor: Executor,
  quota: Quota & { readonly since: Date },
): Promise<Date | undefined> => {
  const row = await executor<{ attempted_at: Date }>('sign_in_attempts')
    .where(quota.column, quota.value)
    .where('attempted_at', '>', quota.since)
    .orderBy('attempted_at', 'desc')
    .offset(quota.max - 1)
    .first('attempted_at');
  return row?.attempted_at;
};

/** Stores a failed attempt. */
const insertAttempt = async (
  trx: Transaction,
  attempt: { addressDigest: Buffer; sourceDigest: Buffer; attemptedAt: Date },
): Promise<void> => {
  await trx('sign_in_attempts').insert(snakeKeys(attempt));
};

/** Deletes the attempts on an address. */
const deleteAttemptsOn = async (trx: Transaction, addressDigest: Buffer): Promise<void> => {
  await trx('sign_in_attempts').where({ address_digest: addressDigest }).delete();
};

/** Deletes at most `limit` attempts made before the given time. Returns the number. */
export const deleteAttemptsBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('sign_in_attempts')
    .whereIn('id', executor('sign_in_attempts').where('attempted_at', '<', before).limit(limit).select('id'))
    .delete();

/**
 * Digests the subject of an attempt. People type anything as an address, even a password, so only digests are stored.
 */
export const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Action that is limited per source. */
type LimitedPurpose = 'sign-up' | 'password-reset' | 'client-document' | 'invitation';

/** Digests a network address. An IPv6 subscriber owns a whole /64, so that counts as one. */
export const sourceDigest = (purpose: 'source' | 'device-code' | LimitedPurpose, address: string): Buffer =>
  digest(`${purpose}:${subscriberOf(address)}`);

/** Maximum failures per window for one address, known device or session. */
const FAILURES_PER_SUBJECT_MAX = 10;
/** Maximum failures per window for one source: many people may share an office's address. */
const FAILURES_PER_SOURCE_MAX = 200;
const FAILURES_WINDOW_MS = 15 * MINUTE_MS;

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
interface Attempt {
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

interface AttemptThrottleDeps {
  readonly transact: Transact;
  readonly clock: Clock;
}

/** Creates the throttle. */
export const createAttemptThrottle = (options: AttemptThrottleDeps): AttemptThrottle => {
  const deps = { ...options, turns: createKeyedQueues(TURNS) };
  return {
    begin: (subject) => beginAttempt(deps, { ...budgetOf(subject), windowMs: FAILURES_WINDOW_MS }),
    forgive: (email) => deps.transact((trx) => deleteAttemptsOn(trx, digest(`address:${email}`))),
  };
};

/** The quotas that judge an attempt, in the order of their locks, and the digests under which its failure is stored. */
interface AttemptBudget {
  readonly quotas: readonly Quota[];
  readonly digests: AttemptDigests;
  readonly windowMs: number;
}

/** Admits an attempt. Throws `too_many_attempts` with `Retry-After` if a quota is used up. */
const beginAttempt = async (
  deps: AttemptThrottleDeps & { readonly turns: KeyedQueues },
  { quotas, digests, windowMs }: AttemptBudget,
): Promise<Attempt> => {
  const judgeIn = async (trx: Transaction, hasFailed: boolean): Promise<void> => {
    const now = deps.clock();
    for (const quota of quotas) {
      await lockQuota(trx, quota.value);
      const oldest = await findAttemptThatFillsQuota(trx, { ...quota, since: later(now, -windowMs) });
      if (oldest !== undefined) throw tooManyAttempts(later(oldest, windowMs), now);
    }
    if (hasFailed) await insertAttempt(trx, { ...digests, attemptedAt: now });
  };
  const judge = (hasFailed: boolean): Promise<void> =>
    inTurns(deps.turns, quotas, () => deps.transact((trx) => judgeIn(trx, hasFailed)));
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
const tooManyAttempts = (until: Date, now: Date): AppError => {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / SECOND_MS));
  return new AppError('too_many_attempts', undefined, { headers: { 'retry-after': String(seconds) } });
};

/** Wrong codes of devices from one source. A person types one or two. */
const GUESSES_PER_SOURCE_MAX = 20;
/** From all sources: far fewer than would meet one of the codes that wait, even if those are many. */
const GUESSES_MAX = 5_000;
const GUESSES_WINDOW_MS = 10 * MINUTE_MS;

/** Limits guesses of the codes that devices show, in the database, across replicas and restarts. */
export interface GuessLimit {
  /**
   * Looks a code up. A result of undefined counts as a wrong guess. Throws `too_many_attempts` with `Retry-After` if
   * there were too many, even for a right one.
   */
  readonly look: <T>(source: string, find: () => Promise<T | undefined>) => Promise<T | undefined>;
}

export const createGuessLimit = (options: AttemptThrottleDeps): GuessLimit => {
  const deps = { ...options, turns: createKeyedQueues(TURNS) };
  return {
    look: async (source, find) => {
      const digests = { addressDigest: digest('device-code'), sourceDigest: sourceDigest('device-code', source) };
      const attempt = await beginAttempt(deps, {
        digests,
        windowMs: GUESSES_WINDOW_MS,
        quotas: [
          { column: 'source_digest', value: digests.sourceDigest, max: GUESSES_PER_SOURCE_MAX },
          { column: 'address_digest', value: digests.addressDigest, max: GUESSES_MAX },
        ],
      });
      const found = await find();
      await (found === undefined ? attempt.fail() : attempt.succeed());
      return found;
    },
  };
};

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
  const turns = createKeyedQueues(TURNS);
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
    take: (source) => {
      const value = sourceDigest(deps.purpose, source);
      return inTurns(turns, [{ value }], () => deps.transact((trx) => takeIn(trx, value)));
    },
  };
};
