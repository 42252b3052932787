export { ACCESS_KINDS, type Ending } from './access-kinds.ts';
export { distrustedSinceChange, endAccess } from './end-access.ts';
export { type OwnerClaim, type ProveOwnerDeps, proveOwnerAfterStepUp } from './prove-owner.ts';
export { credentialRoutes } from './routes.ts';
