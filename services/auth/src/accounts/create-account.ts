import type { AccountType, Locale, newId } from '@svc/contracts';
import { isUniqueViolation } from '@svc/database';
import { AppError, type Clock } from '@svc/service-kit';
import type { AttemptThrottle } from '../throttling/index.ts';
import type { Executor, Transact } from '../transact.ts';
import { type AccountRecord, normalizeEmail } from './account.ts';
import { EMAIL_KEY, openAccount } from './open-account.ts';
import type { PasswordRules } from './password-rules.ts';
import { findAccountByEmail } from './queries.ts';
import type { SignUps } from './sign-ups.ts';

export interface CreateAccountDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
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
 * Signs a person up and leaves the fact `auth.account.created`. Throws 422 if the password is easily guessed,
 * `email_taken`, and `too_many_attempts` if the source signs up too often or keeps trying taken addresses.
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
    displayName: input.displayName,
    locale: input.locale,
    hasSecondFactor: false,
    createdAt: deps.clock(),
    emailVerifiedAt: null,
    sessionsRevokedThrough: null,
  };
  // A source at its limit is refused before it waits in the queues of everybody else.
  await deps.signUps.limit.check(source);
  await deps.passwordRules.check(input.password, account, 'password');
  return await deps.signUps.queue(() => openIfFree(deps, account, { password: input.password, source }));
};

const openIfFree = async (
  deps: CreateAccountDeps,
  account: AccountRecord,
  { password, source }: { password: string; source: string },
): Promise<AccountRecord> => {
  // A taken address counts as a failure of its source: trying many of them is how addresses are harvested.
  const attempt = await deps.throttle.begin({ source });
  const holder = await findAccountByEmail(deps.database, account.email);
  if (holder === undefined) {
    await deps.signUps.limit.take(source);
    if (await storeAccount(deps, account, await deps.signUps.passwords.hash(password))) return account;
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
    await deps.transact((trx) => openAccount(trx, account, passwordHash));
    return true;
  } catch (error) {
    if (isUniqueViolation(error, EMAIL_KEY)) return false;
    throw error;
  }
};
