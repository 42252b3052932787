export { endAccountAccess } from './end-account-access.ts';
export { type OwnerClaim, type ProveOwnerDeps, proveOwnerAfterStepUp } from './prove-owner.ts';
export { credentialRoutes } from './routes.ts';
