export {
  type Connection,
  type ConnectionKey,
  deleteConnectionsOfApp,
  deleteEndedConnectionsOfUser,
  lockUsers,
  updateConnectionsEnded,
  updateToldRevision,
  upsertConnections,
} from './queries.ts';
