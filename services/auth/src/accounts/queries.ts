import type { AccountType, Locale } from '@svc/contracts';
import type { Executor, Transaction } from '../transact.ts';
import type { AccountRecord } from './account.ts';

interface Row {
  id: string;
  email: string;
  password_hash: string | null;
  account_type: AccountType;
  business_name: string | null;
  display_name: string | null;
  locale: Locale;
  created_at: Date;
  sessions_revoked_through: string | null;
}

/** An account and what its password is checked against; null where it has none. */
export interface AccountWithPassword {
  account: AccountRecord;
  passwordHash: string | null;
}

const toRecord = (row: Row): AccountRecord => ({
  id: row.id,
  email: row.email,
  accountType: row.account_type,
  businessName: row.business_name,
  displayName: row.display_name,
  locale: row.locale,
  createdAt: row.created_at,
  sessionsRevokedThrough: row.sessions_revoked_through,
});

/** Stores a new account. Violates `accounts_email_key` where the address is taken. */
export const insertAccount = async (
  trx: Transaction,
  account: AccountRecord,
  passwordHash: string | null,
): Promise<void> => {
  await trx('accounts').insert({
    id: account.id,
    email: account.email,
    password_hash: passwordHash,
    account_type: account.accountType,
    business_name: account.businessName,
    display_name: account.displayName,
    locale: account.locale,
    created_at: account.createdAt,
  });
};

/** The account of an id. */
export const findAccountById = async (executor: Executor, id: string): Promise<AccountRecord | undefined> => {
  const row = await executor<Row>('accounts').where({ id }).first();
  return row === undefined ? undefined : toRecord(row);
};

/** The account of a normalized address, and what its password is checked against. */
export const findAccountByEmail = async (
  executor: Executor,
  email: string,
): Promise<AccountWithPassword | undefined> => {
  const row = await executor<Row>('accounts').where({ email }).first();
  return row === undefined ? undefined : { account: toRecord(row), passwordHash: row.password_hash };
};

/** The account of an id, and what its password is checked against. */
export const findCredentialsById = async (executor: Executor, id: string): Promise<AccountWithPassword | undefined> => {
  const row = await executor<Row>('accounts').where({ id }).first();
  return row === undefined ? undefined : { account: toRecord(row), passwordHash: row.password_hash };
};

/** An account locked until the transaction ends: whoever changes how it is signed in to does this first. */
export const lockAccount = async (trx: Transaction, id: string): Promise<AccountWithPassword | undefined> => {
  const row = await trx<Row>('accounts').where({ id }).forUpdate().first();
  return row === undefined ? undefined : { account: toRecord(row), passwordHash: row.password_hash };
};

/** Changes how a locked account is signed in to. Violates `accounts_email_key` where a new address is taken. */
export const updateCredentials = async (
  trx: Transaction,
  id: string,
  change: { email?: string; passwordHash?: string | null; sessionsRevokedThrough?: string },
): Promise<void> => {
  await trx('accounts')
    .where({ id })
    .update({
      ...(change.email === undefined ? {} : { email: change.email }),
      ...(change.passwordHash === undefined ? {} : { password_hash: change.passwordHash }),
      ...(change.sessionsRevokedThrough === undefined
        ? {}
        : { sessions_revoked_through: change.sessionsRevokedThrough }),
    });
};
