import type { AccountType, Locale, newId } from '@svc/contracts';
import { isUniqueViolation } from '@svc/database';
import { AppError, invalidField } from '@svc/service-kit';
import type { Clock } from '../clock.ts';
import type { AttemptThrottle } from '../throttling/index.ts';
import type { Executor, Transact } from '../transact.ts';
import { type AccountRecord, normalizeEmail } from './account.ts';
import { EMAIL_KEY, openAccount } from './open-account.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { findPasswordFault } from './password-rules.ts';
import { findAccountByEmail } from './queries.ts';

/** What signing up needs. */
export interface CreateAccountDeps {
  database: Executor;
  transact: Transact;
  clock: Clock;
  newId: typeof newId;
  passwords: PasswordHasher;
  throttle: AttemptThrottle;
}

/** What a person signs up with, in the form that the contract has checked. */
export interface NewAccount {
  email: string;
  password: string;
  accountType: AccountType;
  businessName: string | null;
  displayName: string | null;
  locale: Locale;
}

/**
 * Signs somebody up and leaves the fact `auth.account.created`. Throws 422 on a password that is easily guessed,
 * `email_taken`, and `too_many_attempts` for a source that keeps trying addresses that are taken.
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
    createdAt: deps.clock(),
    sessionsRevokedThrough: null,
  };
  const fault = findPasswordFault(input.password, account.email);
  if (fault !== undefined) throw invalidField(['body', 'password'], 'value_error', `Value error, ${fault}`);
  // A taken address counts as a failure of its source: asking for many of them in a row is how addresses are harvested.
  const attempt = await deps.throttle.begin({ source });
  const isTaken =
    (await findAccountByEmail(deps.database, account.email)) !== undefined ||
    !(await storeAccount(deps, account, await deps.passwords.hash(input.password)));
  if (!isTaken) return account;
  await attempt.fail();
  throw new AppError('email_taken');
};

/** False where somebody else was faster. */
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
