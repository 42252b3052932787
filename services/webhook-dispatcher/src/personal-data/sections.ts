import type { ExportSection } from '@svc/database';

/** Data of the dispatcher about a person. */
export const SECTIONS: readonly ExportSection[] = [
  {
    name: 'connections',
    sql: `SELECT client_id, is_connected, scope, connected_at FROM connections WHERE svc_user_id = $1 ORDER BY client_id`,
  },
];
