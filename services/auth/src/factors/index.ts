export type { FactorsDeps } from './factors-deps.ts';
export { type FactorClaim, findFactorProof } from './find-factor-proof.ts';
export {
  createAssertionOptions,
  createSignInOptions,
  findAssertionProof,
  type RequestOptions,
} from './passkey-assertion.ts';
export { CHALLENGE_MAC_BYTES, createPasskeyChallenges } from './passkey-challenge.ts';
export { deleteUsedChallengesExpiredBefore } from './passkey-queries.ts';
export { countRecoveryCodes, deleteUnconfirmedTotpsBefore, listFactorsOfUser, toFactorJson } from './queries.ts';
export { relyingPartyOf } from './relying-party.ts';
export { endFactors, resetFactors } from './reset-factors.ts';
export { factorRoutes, UNCONFIRMED_MS } from './routes.ts';
