export { ACCESS_KINDS, type Ending, endAccess } from './end-access.ts';
export { type OwnerClaim, type ProveOwnerDeps, proveOwnerAfterStepUp } from './prove-owner.ts';
export { recoveryRoutes, startResets } from './recovery.ts';
export { credentialRoutes } from './routes.ts';
