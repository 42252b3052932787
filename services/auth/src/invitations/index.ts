export { deleteInvitationsExpiredBefore, deleteInvitationsOfOrganization } from './queries.ts';
export { invitationRoutes } from './routes.ts';
