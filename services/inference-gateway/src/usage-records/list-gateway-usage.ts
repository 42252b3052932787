import type { gatewayUsageRecordSchema, RequestState, routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { BillingClient } from '../billing-client.ts';
import { findGatewayUsagePosition, type GatewayUsageRow, listGatewayUsageByUser } from './queries.ts';

/** What the list is made from. */
export interface UsageListDeps {
  readonly database: Knex;
  readonly billing: Pick<BillingClient, 'requestStates'>;
}

type Context = RequestContext<typeof routes.listGatewayUsage>;

/** Usage metadata of this account's gateway requests, newest first, in pages. */
export const listGatewayUsage = async (deps: UsageListDeps, context: Context): Promise<Reply> => {
  const { query, caller } = context;
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
  const page = rows.slice(0, query.limit);
  const endings = await readEndings(deps.billing, context, page);
  const data = page.map((row) => showRecord(row, endings.get(row.request_id)));
  return { status: 200, body: { data, has_more: rows.length > query.limit } };
};

/**
 * How requests ended whose outcome the gateway never learnt: billing settles each in the end. Where billing does not say, they
 * stay as they were recorded.
 */
const readEndings = async (
  billing: UsageListDeps['billing'],
  { requestId, log }: Context,
  page: readonly GatewayUsageRow[],
): Promise<ReadonlyMap<string, RequestState>> => {
  const endings = new Map<string, RequestState>();
  const uncertain = page.filter(({ outcome }) => outcome === 'uncertain').map(({ request_id }) => request_id);
  if (uncertain.length === 0) return endings;
  try {
    const states = await billing.requestStates(uncertain, requestId);
    for (const [index, id] of uncertain.entries()) {
      const state = states[index];
      if (state?.state === 'settled' || state?.state === 'released') endings.set(id, state);
    }
  } catch (error) {
    log.warn({ err: error, count: uncertain.length }, 'billing does not say how uncertain requests have ended');
  }
  return endings;
};

const showRecord = (
  row: GatewayUsageRow,
  ending: RequestState | undefined,
): z.output<typeof gatewayUsageRecordSchema> => ({
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
  cached_input_tokens: row.cached_input_tokens,
  reasoning_tokens: row.reasoning_tokens,
  // What an uncertain request will cost is not known yet.
  cost_micros: row.outcome === 'uncertain' ? null : row.cost_micros,
  status: row.status,
  state: row.outcome,
  ...ending,
  streamed: row.streamed,
  started_at: row.started_at.toISOString(),
  first_event_ms: row.first_event_ms,
  duration_ms: row.duration_ms,
});
