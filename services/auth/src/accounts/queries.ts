import type { AccountType, Locale } from '@svc/contracts';
import type { Executor, Transaction } from '../transact.ts';
import type { AccountRecord } from './account.ts';

interface Row {
  id: string;
  email: string;
  password_hash: string;
  account_type: AccountType;
  business_name: string | null;
  display_name: string | null;
  locale: Locale;
  created_at: Date;
}

const toRecord = (row: Row): AccountRecord => ({
  id: row.id,
  email: row.email,
  accountType: row.account_type,
  businessName: row.business_name,
  displayName: row.display_name,
  locale: row.locale,
  createdAt: row.created_at,
});

/** Stores a new account. Violates `accounts_email_key` where the address is taken. */
export const insertAccount = async (trx: Transaction, account: AccountRecord, passwordHash: string): Promise<void> => {
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
): Promise<{ account: AccountRecord; passwordHash: string } | undefined> => {
  const row = await executor<Row>('accounts').where({ email }).first();
  return row === undefined ? undefined : { account: toRecord(row), passwordHash: row.password_hash };
};
