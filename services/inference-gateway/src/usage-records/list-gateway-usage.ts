import type { gatewayUsageRecordSchema, RequestState, routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { BillingClient } from '../billing-client.ts';
import {
  findGatewayUsagePosition,
  type GatewayUsageRow,
  listGatewayUsageByUser,
  type UsagePosition,
} from './queries.ts';
import { prefersCsv, sendUsageCsv, type UsagePage } from './send-usage-csv.ts';

export interface UsageListDeps {
  readonly database: Knex;
  readonly billing: Pick<BillingClient, 'requestStates'>;
}

type Context = RequestContext<typeof routes.listGatewayUsage>;

/** Lists usage metadata of this account's gateway requests, newest first: a page as JSON, or everything as CSV. */
export const listGatewayUsage = async (deps: UsageListDeps, context: Context): Promise<Reply> => {
  const { query, caller, req } = context;
  const { userId } = caller;
  if (prefersCsv(req)) return await sendUsageCsv(context, (after, limit) => readPage(deps, context, { after, limit }));
  const after =
    query.after === undefined
      ? undefined
      : await findGatewayUsagePosition(deps.database, { userId, requestId: query.after });
  // An unknown record yields an empty page, which does not reveal if it exists in another account.
  if (query.after !== undefined && after === undefined) return { status: 200, body: { data: [], has_more: false } };
  const { records, last } = await readPage(deps, context, { after, limit: query.limit });
  return { status: 200, body: { data: records, has_more: last !== undefined } };
};

const readPage = async (
  deps: UsageListDeps,
  context: Context,
  { after, limit }: { readonly after: UsagePosition | undefined; readonly limit: number },
): Promise<UsagePage> => {
  const { query, caller } = context;
  const rows = await listGatewayUsageByUser(deps.database, {
    userId: caller.userId,
    keyId: query.key_id,
    model: query.model,
    status: query.status,
    from: query.from,
    to: query.to,
    after,
    // One more record than the page shows if there is a next page.
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const endings = await readEndings(deps.billing, context, page);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    records: page.map((row) => showRecord(row, endings.get(row.request_id))),
    last: last && { startedAt: last.started_at, requestId: last.request_id },
  };
};

/** Reads the final states of uncertain requests from billing. If it does not respond, they stay as recorded. */
const readEndings = async (
  billing: UsageListDeps['billing'],
  { caller, requestId, log }: Context,
  page: readonly GatewayUsageRow[],
): Promise<ReadonlyMap<string, RequestState>> => {
  const endings = new Map<string, RequestState>();
  const uncertain = page.filter(({ outcome }) => outcome === 'uncertain').map(({ request_id }) => request_id);
  if (uncertain.length === 0) return endings;
  try {
    const states = await billing.requestStates(uncertain, { userId: caller.userId, requestId });
    for (const [index, id] of uncertain.entries()) {
      const state = states[index];
      if (state?.state === 'settled' || state?.state === 'released') endings.set(id, state);
    }
  } catch (error) {
    log.warn({ err: error, count: uncertain.length }, 'could not read the states of uncertain requests from billing');
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
  // The cost of an uncertain request is not known yet.
  cost_micros: row.outcome === 'uncertain' ? null : row.cost_micros,
  status: row.status,
  state: row.outcome,
  ...ending,
  streamed: row.streamed,
  started_at: row.started_at.toISOString(),
  first_event_ms: row.first_event_ms,
  duration_ms: row.duration_ms,
});
