export type { Connection, ConnectionKey } from './connection.ts';
export {
  deleteConnectionsOfApp,
  lockUsers,
  updateConnectionsEnded,
  updateToldRevision,
  upsertConnections,
} from './queries.ts';
