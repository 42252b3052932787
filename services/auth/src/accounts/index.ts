export { type AccountRecord, normalizeEmail, publisherName, toAccountJson } from './account.ts';
export {
  type CreateAccountDeps,
  createAccount,
  createSignUps,
  EMAIL_KEY,
  isAddressFree,
  type NewAccount,
  openAccount,
  type SignUps,
} from './create-account.ts';
export { mailDeletion } from './mail-deletion.ts';
export { createPasswordHasher, type PasswordHasher } from './password-hasher.ts';
export { createPasswordRules, type PasswordRules } from './password-rules.ts';
export {
  type AccountWithPassword,
  deleteAccount,
  findAccountByEmail,
  findAccountById,
  findCredentialsById,
  holdAccount,
  listDueErasures,
  listErasuresSince,
  lockAccount,
  markFirstSignIn,
  nameAccounts,
  updateCredentials,
  updateErasure,
  updateProfile,
} from './queries.ts';
export { accountRoutes, describeAccount } from './routes.ts';
export {
  markVerified,
  type RedeemedToken,
  redeemMailedToken,
  requestVerification,
  type VerificationDeps,
} from './verify-email.ts';
