import { internalRoutes } from '@svc/contracts';
import { auditLogSection, type ExportSection, streamSections } from '@svc/database';
import { type Binding, bind, sendJsonStream } from '@svc/service-kit';
import { EVENT_STATUS } from './events/index.ts';

/**
 * Returns what the dispatcher holds about a person. The webhooks are those of the account, without `client_id`, and of its apps.
 * The events are those that name the person.
 */
export const sectionsWith = ({ retentionDays }: { retentionDays: number }): readonly ExportSection[] => [
  {
    name: 'connections',
    sql: `SELECT client_id, is_connected, scope, connected_at FROM connections WHERE svc_user_id = $1 ORDER BY client_id`,
  },
  {
    name: 'webhooks',
    sql: `SELECT nullif(owner_id, account_id) AS client_id, url, generation, created_at FROM configurations
      WHERE account_id = $1 ORDER BY owner_id`,
  },
  {
    name: 'events',
    sql: `SELECT nullif(e.owner_id, e.svc_user_id) AS client_id, e.event_id, e.event, e.sequence, ${EVENT_STATUS} AS status, to_timestamp(e.created) AS created,
        convert_from(e.body, 'UTF8')::jsonb AS body
      FROM events e LEFT JOIN lanes l ON l.owner_id = e.owner_id
      WHERE e.svc_user_id = $1 ORDER BY e.owner_id, e.sequence`,
  },
  {
    name: 'event_retention',
    sql: `SELECT ${retentionDays} AS days, now() - interval '1 day' * ${retentionDays} AS kept_since WHERE $1 <> ''`,
  },
  auditLogSection,
];

/** Hands over what the service holds about a person. */
export const personalDataRoutes = (
  database: Parameters<typeof streamSections>[0],
  limits: { readonly retentionDays: number },
): Binding[] => {
  const sections = sectionsWith(limits);
  return [
    bind(internalRoutes.exportWebhookData, (context) =>
      sendJsonStream(context, (write) => streamSections(database, sections, { id: context.params.svc_user_id, write })),
    ),
  ];
};
