export {
  type Connection,
  type ConnectionKey,
  deleteConnectionsOfApp,
  lockUsers,
  updateConnectionsEnded,
  updateToldRevision,
  upsertConnections,
} from './queries.ts';
