export { deleteAuditEntriesBefore, type Origin, OWN_ORIGIN, originOf } from './audit.ts';
export { createTermsTurns, type TermsTurns } from './change-terms.ts';
export {
  type BudgetJson,
  budgetJson,
  type ConnectionRecord,
  countStandingConnections,
  findConnection,
  GRANT_UNUSED_MS,
  type GrantRecord,
  hasPassed,
  listStandingConnections,
  requireLiveBudget,
} from './connection.ts';
export {
  cutOffApp,
  endConnectionsOfUser,
  endGrantsSince,
  endNextConnectionsOfApp,
  forgetNextConnectionsOfApp,
} from './end-connections.ts';
export { deleteGrantsExpiredBefore, findGrantIdAfter, type GrantJson, grantJson } from './grant-queries.ts';
export { endGrant, isConnected } from './grants.ts';
export type { ConnectedApp } from './list-connections.ts';
export { addGrant, openGrant, planTerms } from './open-grant.ts';
export { connectionRoutes } from './routes.ts';
