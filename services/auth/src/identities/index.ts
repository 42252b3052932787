export { type IdentityDeps, IdentityTaken, linkIdentity } from './link-identity.ts';
export { deleteIdentitiesOfUser, findUserIdByIdentity, type IdentityKey, insertIdentity } from './queries.ts';
