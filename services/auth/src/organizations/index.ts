export {
  endMembershipsElsewhere,
  endMembershipsOfErased,
  endMembershipsOfOthers,
  hasOwnRoleChangedSince,
  requireOwnersElsewhere,
} from './end-memberships.ts';
export { deleteInvitationsExpiredBefore, deleteInvitationsOfOrganization, invitationRoutes } from './invitations.ts';
export { memberOperatorRoutes } from './operator-routes.ts';
export { memberInternalRoutes, memberRoutes } from './routes.ts';
export { organizationInternalRoutes, organizationRoutes } from './switch-organization.ts';
export { endActingWithoutFactor } from './update-member.ts';
