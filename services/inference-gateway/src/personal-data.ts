import { internalRoutes } from '@svc/contracts';
import { auditLogSection, type ExportSection, streamSections } from '@svc/database';
import { type Binding, bind, sendJsonStream } from '@svc/service-kit';

/** Data of the gateway about a person. Delegated requests name no model. */
export const SECTIONS: readonly ExportSection[] = [
  {
    name: 'api_keys',
    sql: `SELECT id, name, prefix, expires_at, requests_per_minute, tokens_per_minute, monthly_limit_micros, models, active, created_at,
      created_by, creator_left, last_used_at, deleted_at FROM api_keys WHERE svc_user_id = $1 ORDER BY created_at, id`,
  },
  {
    name: 'usage_records',
    sql: `SELECT request_id, started_at, kind, client_id, key_id, service, CASE kind WHEN 'api_key' THEN model END AS model,
      input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, audio_ms, outcome, cost_micros, status, streamed,
      duration_ms
      FROM usage_records WHERE svc_user_id = $1 ORDER BY started_at, id`,
  },
  auditLogSection,
];

/** Hands over what the service holds about a person. */
export const personalDataRoutes = (database: Parameters<typeof streamSections>[0]): Binding[] => [
  bind(internalRoutes.exportGatewayData, (context) =>
    sendJsonStream(context, (write) => streamSections(database, SECTIONS, { id: context.params.svc_user_id, write })),
  ),
];
