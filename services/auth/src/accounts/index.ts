export { type AccountRecord, normalizeEmail, publisherName, toAccountJson } from './account.ts';
export { type CreateAccountDeps, createAccount, type NewAccount } from './create-account.ts';
export { createPasswordHasher, type PasswordHasher } from './password-hasher.ts';
export { findAccountById } from './queries.ts';
export { accountRoutes } from './routes.ts';
export { type VerifyPasswordDeps, verifyPassword } from './verify-password.ts';
