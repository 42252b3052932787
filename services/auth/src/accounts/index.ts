export { type AccountRecord, normalizeEmail, publisherName, toAccountJson } from './account.ts';
export { type CreateAccountDeps, createAccount, type NewAccount } from './create-account.ts';
export { describeAccount } from './describe-account.ts';
export { isAddressFree } from './is-address-free.ts';
export { mailDeletion } from './mail-deletion.ts';
export { EMAIL_KEY, openAccount } from './open-account.ts';
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
export { type RedeemedToken, redeemMailedToken } from './redeem-mailed-token.ts';
export { accountRoutes } from './routes.ts';
export { createSignUps, type SignUps } from './sign-ups.ts';
export { markVerified, requestVerification, type VerificationDeps } from './verify-email.ts';
