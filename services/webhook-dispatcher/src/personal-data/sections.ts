import type { ExportSection } from '@svc/database';

/** Returns what the dispatcher holds about a person. The events are those of apps that the person has connected. */
export const sectionsWith = ({ retentionDays }: { retentionDays: number }): readonly ExportSection[] => [
  {
    name: 'connections',
    sql: `SELECT client_id, is_connected, scope, connected_at FROM connections WHERE svc_user_id = $1 ORDER BY client_id`,
  },
  {
    name: 'events',
    // Comparing bytes is cheap, so that only the person's own bodies are parsed.
    sql: `SELECT e.client_id, e.event_id, e.event, e.sequence, e.status, to_timestamp(e.created) AS created,
        convert_from(e.body, 'UTF8')::jsonb AS body
      FROM connections c JOIN events e ON e.client_id = c.client_id
      WHERE c.svc_user_id = $1 AND position(convert_to($1, 'UTF8') IN e.body) > 0
        AND convert_from(e.body, 'UTF8')::jsonb #>> '{user,svc_user_id}' = $1
      ORDER BY e.client_id, e.sequence`,
  },
  {
    name: 'event_retention',
    sql: `SELECT ${retentionDays} AS days, now() - interval '1 day' * ${retentionDays} AS kept_since WHERE $1 <> ''`,
  },
];
