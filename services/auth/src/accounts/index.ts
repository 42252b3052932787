export {
  type AccountRecord,
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
  normalizeEmail,
  publisherName,
  toAccountJson,
  updateCredentials,
  updateErasure,
  updateProfile,
} from './account.ts';
export {
  type CreateAccountDeps,
  createAccount,
  createSignUps,
  EMAIL_KEY,
  isAddressFree,
  openAccount,
  type SignUps,
} from './create-account.ts';
export {
  mailDeletion,
  markVerified,
  redeemMailedToken,
  requestVerification,
  type VerificationDeps,
} from './mailed-links.ts';
export { createPasswordHasher, createPasswordRules, type PasswordHasher, type PasswordRules } from './passwords.ts';
export { accountRoutes, describeAccount } from './routes.ts';
