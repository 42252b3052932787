import type { Executor } from '../transact.ts';
import { type AccountRecord, normalizeEmail } from './account.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { findAccountByEmail } from './queries.ts';

/** What checking a password needs. */
export interface VerifyPasswordDeps {
  database: Executor;
  passwords: PasswordHasher;
}

/** The account that this address and password open, or undefined; the work is the same whether or not the address exists. */
export const verifyPassword = async (
  deps: VerifyPasswordDeps,
  credentials: { email: string; password: string },
): Promise<AccountRecord | undefined> => {
  const found = await findAccountByEmail(deps.database, normalizeEmail(credentials.email));
  const fits = await deps.passwords.verify(found?.passwordHash ?? undefined, credentials.password);
  return fits ? found?.account : undefined;
};
