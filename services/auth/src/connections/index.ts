export { addGrant } from './add-grant.ts';
export { deleteAuditEntriesBefore, type Origin, OWN_ORIGIN, originOf } from './audit.ts';
export {
  type ConnectionRecord,
  GRANT_UNUSED_MS,
  type GrantRecord,
  hasPassed,
  requireLiveBudget,
} from './connection.ts';
export type { ConnectedApp } from './describe-connections.ts';
export { cutOffApp, endNextConnectionsOfApp, forgetNextConnectionsOfApp } from './end-app-connections.ts';
export { endGrant } from './end-grants.ts';
export { endGrantsSince } from './end-recent-grants.ts';
export { endConnectionsOfUser } from './end-user-connections.ts';
export { deleteGrantsExpiredBefore, findGrantIdAfter, type GrantJson, grantJson } from './grant-queries.ts';
export { isConnected } from './grants.ts';
export { openGrant, planTerms } from './open-grant.ts';
export {
  type BudgetJson,
  budgetJson,
  countStandingConnections,
  findConnection,
  listStandingConnections,
} from './queries.ts';
export { connectionRoutes } from './routes.ts';
export { createTermsTurns, type TermsTurns } from './terms-turns.ts';
