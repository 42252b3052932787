import type { Account, AccountType, Locale, OrganizationJson } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { Executor, Transaction } from '../transact.ts';

/** An account as stored, without its password. */
export interface AccountRecord {
  readonly id: string;
  readonly email: string;
  readonly accountType: AccountType;
  readonly businessName: string | null;
  /** True if only members with a second factor may act for this organization. */
  readonly requiresSecondFactor: boolean;
  readonly displayName: string | null;
  readonly locale: Locale;
  /** True if sign-in needs more than the password. The factors slice keeps it. */
  readonly hasSecondFactor: boolean;
  readonly createdAt: Date;
  /** Time at which the owner confirmed the address by a mailed link; null before. */
  readonly emailVerifiedAt: Date | null;
  /** Null until the first sign-in, which is always from a new device and not suspicious. */
  readonly firstSignedInAt: Date | null;
  /** Time at which the account is erased; null unless its owner has asked for that. */
  readonly eraseAt: Date | null;
  /** Version of the last fact about the deletion of the account. */
  readonly deletionVersion: number;
  /** Newest session ended by signing out everywhere; null if there was none. */
  readonly sessionsRevokedThrough: string | null;
  /**
   * Time since which credentials may be those of an intruder: a day before a change of address that was undone. Null
   * unless the password is still the one from before.
   */
  readonly distrustedSince: Date | null;
}

/** Trims and lowercases an address. Addresses are stored, compared and unique in this form. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase();

/** Maps an account to the JSON that its owner sees, with the organization that they act for. */
export const toAccountJson = (account: AccountRecord, organization: OrganizationJson | null): Account => ({
  svc_user_id: account.id,
  email: account.email,
  account_type: account.accountType,
  business_name: account.businessName,
  display_name: account.displayName,
  locale: account.locale,
  has_second_factor: account.hasSecondFactor,
  created_at: account.createdAt.toISOString(),
  email_verified: account.emailVerifiedAt !== null,
  organization,
});

/** Returns the publisher's name as shown on the consent page. */
export const publisherName = (account: AccountRecord): string =>
  account.businessName ?? account.displayName ?? account.email;

type Row = SnakeKeys<AccountRecord> & { readonly password_hash: string | null };

/** An account with the hash of its password; null if it has none. */
export interface AccountWithPassword {
  readonly account: AccountRecord;
  readonly passwordHash: string | null;
}

const toAccountWithPassword = (row: Row | undefined): AccountWithPassword | undefined => {
  if (row === undefined) return undefined;
  const { password_hash: passwordHash, ...account } = row;
  return { account: camelKeys(account), passwordHash };
};

/** Stores a new account. Violates `accounts_email_key` if the address is taken. */
export const insertAccount = async (
  trx: Transaction,
  account: AccountRecord,
  passwordHash: string | null,
): Promise<void> => {
  await trx('accounts').insert(snakeKeys({ ...account, passwordHash }));
};

export const findAccountById = async (executor: Executor, id: string): Promise<AccountRecord | undefined> =>
  (await findCredentialsById(executor, id))?.account;

/** Finds an account by its normalized address. */
export const findAccountByEmail = async (executor: Executor, email: string): Promise<AccountWithPassword | undefined> =>
  toAccountWithPassword(await executor<Row>('accounts').where({ email }).first());

export const findCredentialsById = async (executor: Executor, id: string): Promise<AccountWithPassword | undefined> =>
  toAccountWithPassword(await executor<Row>('accounts').where({ id }).first());

/** Returns the names of accounts by id: the business name, the display name, or the address. Erased accounts have none. */
export const nameAccounts = async (
  executor: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const { rows }: { rows: { id: string; name: string }[] } = await executor.raw(
    'SELECT id, coalesce(business_name, display_name, email) AS name FROM accounts WHERE id = ANY (?)',
    [[...ids]],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
};

/** Finds an account and locks it until the transaction ends. Changes of credentials start with this. */
export const lockAccount = async (trx: Transaction, id: string): Promise<AccountWithPassword | undefined> =>
  toAccountWithPassword(await trx<Row>('accounts').where({ id }).forUpdate().first());

/** Finds an account and holds it as it is until the transaction ends, together with others who do so. */
export const holdAccount = async (trx: Executor, id: string): Promise<AccountRecord | undefined> =>
  toAccountWithPassword(await trx<Row>('accounts').where({ id }).forShare().first())?.account;

/** Changes the credentials of a locked account. Violates `accounts_email_key` if a new address is taken. */
export const updateCredentials = async (
  trx: Transaction,
  id: string,
  change: {
    email?: string;
    passwordHash?: string | null;
    emailVerifiedAt?: Date;
    sessionsRevokedThrough?: string;
    hasSecondFactor?: boolean;
    distrustedSince?: Date | null;
  },
): Promise<void> => {
  await trx('accounts').where({ id }).update(snakeKeys(change));
};

/** Changes the profile of a locked account. */
export const updateProfile = async (
  trx: Transaction,
  id: string,
  change: Partial<
    Pick<AccountRecord, 'accountType' | 'businessName' | 'displayName' | 'locale' | 'requiresSecondFactor'>
  >,
): Promise<void> => {
  await trx('accounts').where({ id }).update(snakeKeys(change));
};

/** Notes the first sign-in to an account. Returns false if there was one before. */
export const markFirstSignIn = async (trx: Transaction, id: string, now: Date): Promise<boolean> =>
  (await trx('accounts').where({ id }).whereNull('first_signed_in_at').update({ first_signed_in_at: now })) > 0;

/** Stores the erasure time of a locked account and the version of its fact. */
export const updateErasure = async (
  trx: Transaction,
  id: string,
  change: Pick<AccountRecord, 'eraseAt' | 'deletionVersion'>,
): Promise<void> => {
  await trx('accounts').where({ id }).update(snakeKeys(change));
};

/** Lists accounts whose erasure is due, except those named, the longest overdue first. */
export const listDueErasures = async (
  executor: Executor,
  { now, limit, except }: { now: Date; limit: number; except: readonly string[] },
): Promise<string[]> =>
  await executor('accounts')
    .where('erase_at', '<=', now)
    .whereNotIn('id', except)
    .orderBy('erase_at')
    .limit(limit)
    .pluck('id');

/** Lists the ids of accounts erased since a moment, in pages by id. */
export const listErasuresSince = async (
  executor: Executor,
  { since, after, limit }: { since: Date; after: string | undefined; limit: number },
): Promise<string[]> =>
  await executor('erased_accounts')
    .where('erased_at', '>=', since)
    .where('user_id', '>', after ?? '')
    .orderBy('user_id')
    .limit(limit)
    .pluck('user_id');

/**
 * Deletes an account with everything that refers to it, and keeps its pseudonymous id and the time. Its apps must be
 * gone.
 */
export const deleteAccount = async (trx: Transaction, id: string, now: Date): Promise<void> => {
  await trx('accounts').where({ id }).delete();
  await trx('erased_accounts').insert({ user_id: id, erased_at: now }).onConflict('user_id').ignore();
};
