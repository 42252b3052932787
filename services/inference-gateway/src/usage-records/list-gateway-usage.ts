import type { gatewayUsageRecordSchema, routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import { findGatewayUsagePosition, type GatewayUsageRow, listGatewayUsageByUser } from './queries.ts';

/** Usage metadata of this account's gateway requests, newest first, in pages. */
export const listGatewayUsage = async (
  deps: { readonly database: Knex },
  { query, caller }: RequestContext<typeof routes.listGatewayUsage>,
): Promise<Reply> => {
  const { userId } = caller;
  const after =
    query.after === undefined
      ? undefined
      : await findGatewayUsagePosition(deps.database, { userId, requestId: query.after });
  // A page behind a record that this account does not have is empty: whose it is, is not told.
  if (query.after !== undefined && after === undefined) return { status: 200, body: { data: [], has_more: false } };
  const rows = await listGatewayUsageByUser(deps.database, {
    userId,
    keyId: query.key_id,
    from: query.from,
    to: query.to,
    after,
    // One more than asked for tells whether there are more.
    limit: query.limit + 1,
  });
  return {
    status: 200,
    body: { data: rows.slice(0, query.limit).map(showRecord), has_more: rows.length > query.limit },
  };
};

const showRecord = (row: GatewayUsageRow): z.output<typeof gatewayUsageRecordSchema> => ({
  request_id: row.request_id,
  key_id: row.key_id,
  model: row.model,
  upstream_model: row.upstream_model,
  service: row.service,
  provider: row.provider,
  route_id: row.route_id,
  data_zone: row.data_zone,
  ingress_region: row.ingress_region,
  upstream_request_id: row.upstream_request_id,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  // What an uncertain request will cost, billing alone knows.
  cost_micros: row.outcome === 'uncertain' ? null : row.cost_micros,
  status: row.status,
  state: row.outcome,
  streamed: row.streamed,
  started_at: row.started_at.toISOString(),
  first_event_ms: row.first_event_ms,
  duration_ms: row.duration_ms,
});
