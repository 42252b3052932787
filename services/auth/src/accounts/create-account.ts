import { type AccountType, authEvents, type Locale, type newId } from '@svc/contracts';
import { isUniqueViolation } from '@svc/database';
import { appendToOutbox } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import { type BoundedQueue, createBoundedQueue, createKeyedQueues, type KeyedQueues } from '../bounded-queue.ts';
import { enqueueMail } from '../mail/index.ts';
import { isAddressHeld, issueMailedToken } from '../mailed-tokens.ts';
import { foundersMembership, insertMembership } from '../memberships.ts';
import { subscriberOf } from '../network-address.ts';
import type { AttemptThrottle, SourceLimit } from '../throttling.ts';
import type { Executor, Transaction } from '../transact.ts';
import { type AccountRecord, findAccountByEmail, insertAccount, normalizeEmail } from './account.ts';
import { mailVerification, type VerificationDeps } from './mailed-links.ts';
import { createPasswordHasher, type PasswordHasher, type PasswordRules } from './passwords.ts';

/** Constraint violated by a second account with the same address. */
export const EMAIL_KEY = 'accounts_email_key';

/**
 * Stores a new account, with or without a password, and appends the fact `auth.account.created`. A business account is the
 * first owner of itself. Violates EMAIL_KEY.
 */
export const openAccount = async (
  deps: { readonly newId: typeof newId },
  trx: Transaction,
  { account, passwordHash }: { account: AccountRecord; passwordHash: string | null },
): Promise<void> => {
  await insertAccount(trx, account, passwordHash);
  if (account.accountType === 'business') {
    await insertMembership(trx, foundersMembership(deps, account.id, account.createdAt));
  }
  await appendToOutbox(trx, {
    subject: authEvents.accountCreated.subject,
    aggregate: `account:${account.id}`,
    version: 1,
    data: { svc_user_id: account.id, account_type: account.accountType },
  });
};

/** Returns true if no other account has this address or may still return to it. */
export const isAddressFree = async (
  executor: Executor,
  email: string,
  { now, userId }: { now: Date; userId: string },
): Promise<boolean> => {
  const holder = await findAccountByEmail(executor, email);
  if (holder !== undefined && holder.account.id !== userId) return false;
  return !(await isAddressHeld(executor, email, { now, exceptUserId: userId }));
};

export interface CreateAccountDeps extends VerificationDeps {
  readonly database: Executor;
  readonly signUps: SignUps;
  readonly passwordRules: PasswordRules;
  readonly throttle: AttemptThrottle;
}

/** Fields of a sign-up, checked by the contract. */
export interface NewAccount {
  readonly email: string;
  readonly password: string;
  readonly accountType: AccountType;
  readonly businessName: string | null;
  readonly displayName: string | null;
  readonly locale: Locale;
}

/**
 * Creates an account and appends the fact `auth.account.created`. Throws 422 if the password is easily guessed, and
 * `too_many_attempts` if the source signs up too often. Throws `email_taken` for a taken address. If addresses must be
 * confirmed, a taken address gets the same answer as a free one.
 */
export const createAccount = async (
  deps: CreateAccountDeps,
  input: NewAccount,
  source: string,
): Promise<AccountRecord> => {
  const account: AccountRecord = {
    id: deps.newId('usr'),
    email: normalizeEmail(input.email),
    accountType: input.accountType,
    businessName: input.accountType === 'business' ? input.businessName : null,
    requiresSecondFactor: false,
    displayName: input.displayName,
    locale: input.locale,
    hasSecondFactor: false,
    createdAt: deps.clock(),
    emailVerifiedAt: null,
    firstSignedInAt: null,
    eraseAt: null,
    deletionVersion: 0,
    sessionsRevokedThrough: null,
    distrustedSince: null,
  };
  // Refuses a source at its limit before it takes a place in the shared queues.
  await deps.signUps.limit.check(source);
  // A refused password takes no place of the source's limit, and costs more work than its request.
  await deps.signUps.inTurnOfSource(subscriberOf(source), () =>
    deps.passwordRules.check(input.password, account, 'password'),
  );
  return await deps.signUps.queue(() => openIfFree(deps, account, { password: input.password, source }));
};

const openIfFree = async (
  deps: CreateAccountDeps,
  account: AccountRecord,
  { password, source }: { password: string; source: string },
): Promise<AccountRecord> => {
  const { database, signUps, isVerificationRequired } = deps;
  // Attackers try many addresses to find those with an account, so a taken one counts as a failure of its source.
  const attempt = await deps.throttle.begin({ source });
  const isFree = await isAddressFree(database, account.email, { now: account.createdAt, userId: account.id });
  if (isFree || isVerificationRequired) {
    await signUps.limit.take(source);
    const passwordHash = await signUps.passwords.hash(password);
    if (isFree && (await storeAccount(deps, account, passwordHash))) return account;
    if (isVerificationRequired) return await pretendToOpen(deps, account, passwordHash);
  }
  await attempt.fail();
  throw new AppError('email_taken');
};

/** Returns false if another request took the address first. */
const storeAccount = async (
  deps: CreateAccountDeps,
  account: AccountRecord,
  passwordHash: string,
): Promise<boolean> => {
  try {
    await deps.transact(async (trx) => {
      await openAccount(deps, trx, { account, passwordHash });
      await mailVerification(deps, trx, account);
    });
    return true;
  } catch (error) {
    if (isUniqueViolation(error, EMAIL_KEY)) return false;
    throw error;
  }
};

/**
 * Answers a sign-up with a taken address as if it were free, after the same work, and mails the owner. Only the mailbox
 * reveals the difference. Stores nothing but the mail.
 */
const pretendToOpen = async (
  deps: CreateAccountDeps,
  account: AccountRecord,
  passwordHash: string,
): Promise<AccountRecord> => {
  const decoy = { ...account, email: `${account.id}@decoy.invalid` };
  await deps.transact(async (trx) => {
    const undone = new Error('the decoy is rolled back');
    const opening = trx.transaction(async (savepoint) => {
      await openAccount(deps, savepoint, { account: decoy, passwordHash });
      await issueMailedToken(
        savepoint,
        { purpose: 'verify_email', userId: decoy.id, email: decoy.email },
        deps.clock(),
      );
      throw undone;
    });
    await opening.catch((error: unknown) => {
      if (error !== undone) throw error;
    });
    const owner = (await findAccountByEmail(trx, account.email))?.account;
    if (owner === undefined) return;
    const { id: userId, email: to, locale } = owner;
    await enqueueMail(deps, trx, { kind: 'sign_up_repeated', userId, to, locale, data: {} });
  });
  return account;
};

/** Waiting sign-ups: about ten seconds of work. */
const WAITING_MAX = 256;
const REFUSAL = 'Too many people are signing up. Try again in a moment.';
/** Passwords of one source that are judged, or wait for the thread that judges those of all people, at one time. */
const JUDGED_PER_SOURCE_MAX = 2;

/** Separates sign-ups from sign-ins, so that a burst of sign-ups does not delay people who sign in. */
export interface SignUps {
  readonly limit: SourceLimit;
  /** Lets a source judge few passwords at a time, so that others wait behind few of them. */
  readonly inTurnOfSource: KeyedQueues;
  /** Runs one sign-up at a time, from first to last query. */
  readonly queue: BoundedQueue;
  /** Hashes on a thread that sign-ins do not use. */
  readonly passwords: PasswordHasher;
}

/** Creates the queue and hasher of sign-ups. */
export const createSignUps = async (limit: SourceLimit): Promise<SignUps> => ({
  limit,
  inTurnOfSource: createKeyedQueues({
    runningMax: JUDGED_PER_SOURCE_MAX,
    waitingMax: WAITING_MAX,
    refusal: REFUSAL,
  }),
  queue: createBoundedQueue({ runningMax: 1, waitingMax: WAITING_MAX, refusal: REFUSAL }),
  passwords: await createPasswordHasher(1),
});
