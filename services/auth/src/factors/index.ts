export { removeAllFactors } from './change-factors.ts';
export { UNCONFIRMED_MS } from './confirm-totp.ts';
export type { FactorsDeps } from './factors-deps.ts';
export { type FactorClaim, findFactorProof } from './find-factor-proof.ts';
export { deleteUnconfirmedTotpsBefore, listFactorsOfUser } from './queries.ts';
export { factorRoutes } from './routes.ts';
