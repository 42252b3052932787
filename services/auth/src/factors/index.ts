export { endFactors, type FactorsDeps, resetFactors } from './change-factors.ts';
export {
  CHALLENGE_MAC_BYTES,
  createPasskeyChallenges,
  deleteUsedChallengesExpiredBefore,
  relyingPartyOf,
} from './passkeys.ts';
export {
  createAssertionOptions,
  createSignInOptions,
  type FactorClaim,
  findAssertionProof,
  findFactorProof,
  type RequestOptions,
} from './prove-factor.ts';
export { countRecoveryCodes, deleteUnconfirmedTotpsBefore, listFactorsOfUser, toFactorJson } from './queries.ts';
export { factorRoutes, UNCONFIRMED_MS } from './routes.ts';
