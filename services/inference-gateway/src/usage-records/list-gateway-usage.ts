import type { gatewayUsageRecordSchema, RequestState, routes } from '@svc/contracts';
import { prefersCsv, type Reply, type RequestContext, sendCsv } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { BillingClient } from '../billing-client.ts';
import { findGatewayRecord, type GatewayUsageRow, listGatewayUsageByUser } from './queries.ts';

type UsageRecordShown = z.output<typeof gatewayUsageRecordSchema>;

/** A page of the usage list. `last` is the request id of its last record, undefined for the last page. */
interface UsagePage {
  readonly records: readonly UsageRecordShown[];
  readonly last: string | undefined;
}

/** Columns in file order. A field that is missing here fails to compile. */
const COLUMNS = Object.keys({
  request_id: true,
  started_at: true,
  key_id: true,
  model: true,
  upstream_model: true,
  service: true,
  provider: true,
  route_id: true,
  data_zone: true,
  ingress_region: true,
  upstream_request_id: true,
  input_tokens: true,
  cached_input_tokens: true,
  output_tokens: true,
  reasoning_tokens: true,
  cost_micros: true,
  status: true,
  state: true,
  streamed: true,
  first_event_ms: true,
  duration_ms: true,
} satisfies Record<keyof UsageRecordShown, true>) as (keyof UsageRecordShown)[];

const cellsOf = (record: UsageRecordShown) => COLUMNS.map((name) => record[name]);

/** Limit of request states in one call to billing. */
const PAGE_RECORDS = 100;

export interface UsageListDeps {
  readonly database: Knex;
  readonly billing: Pick<BillingClient, 'requestStates'>;
}

type Context = RequestContext<typeof routes.listGatewayUsage>;

/** Lists usage metadata of this account's gateway requests, newest first: a page as JSON, or everything as CSV. */
export const listGatewayUsage = async (deps: UsageListDeps, context: Context): Promise<Reply> => {
  const { query, caller, req } = context;
  const { userId } = caller;
  if (prefersCsv(req)) {
    const readRows = async (last: string | undefined) => {
      const page = await readPage(deps, context, { after: last, limit: PAGE_RECORDS });
      return { rows: page.records, next: page.last };
    };
    return await sendCsv(context, { name: 'usage.csv', titles: COLUMNS, cellsOf, readPage: readRows });
  }
  const { after } = query;
  // An unknown record yields an empty page, which does not reveal if it exists in another account.
  if (after !== undefined && (await findGatewayRecord(deps.database, { userId, keyId: null }, after)) === undefined) {
    return { status: 200, body: { data: [], has_more: false } };
  }
  const { records, last } = await readPage(deps, context, { after, limit: query.limit });
  return { status: 200, body: { data: records, has_more: last !== undefined } };
};

const readPage = async (
  deps: UsageListDeps,
  context: Context,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
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
    last: last?.request_id,
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
