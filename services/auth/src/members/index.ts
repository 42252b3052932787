export {
  endMembershipsElsewhere,
  endMembershipsOfErased,
  endMembershipsOfOthers,
  requireOwnersElsewhere,
} from './end-memberships-of-account.ts';
export { memberOperatorRoutes } from './operator-routes.ts';
export { hasMemberWithAddress } from './queries.ts';
export { type Actor, lockOrganization, requireAuthority } from './require-actor.ts';
export { endActingWithoutFactor } from './require-second-factor.ts';
export { memberInternalRoutes, memberRoutes, toActor } from './routes.ts';
