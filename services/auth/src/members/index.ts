export { changeRole } from './end-membership.ts';
export {
  endMembershipsElsewhere,
  endMembershipsOfErased,
  endMembershipsOfOthers,
  requireOwnersElsewhere,
} from './end-memberships-of-account.ts';
export { toSeatlessMemberJson } from './member-json.ts';
export { findMember, hasMemberWithAddress, listMembersOfOrganization, type MemberRecord } from './queries.ts';
export { type Actor, lockOrganization, requireAuthority } from './require-actor.ts';
export { endActingWithoutFactor } from './require-second-factor.ts';
export { memberInternalRoutes, memberRoutes, toActor } from './routes.ts';
