export { type KeyRing, openKeyRing } from './key-ring.ts';
export { signingKeyOperatorRoutes } from './operator-routes.ts';
export { signingKeyRoutes } from './routes.ts';
export { SIGNING_ALGORITHM, type SigningKey } from './signing-key.ts';
