import { idOf } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { UsageRecord } from './usage-record.ts';

const LIST_RECORDED = {
  name: 'list_recorded_requests',
  text: `SELECT g.request_id FROM unnest($1::text[], $2::text[]) AS g (svc_user_id, request_id)
    JOIN usage_callers AS c ON c.svc_user_id = g.svc_user_id
    JOIN usage_rows AS r ON r.caller_number = c.caller_number AND r.id = uuid_of_id('req', g.request_id)`,
};

/** Lists the request ids that are already recorded. */
export const listRecordedRequestIds = async (
  database: Knex,
  records: readonly Pick<UsageRecord, 'requestId' | 'userId'>[],
): Promise<string[]> => {
  const values = [records.map(({ userId }) => userId), records.map(({ requestId }) => requestId)];
  return (await runPrepared<{ request_id: string }>(database, LIST_RECORDED, values)).map(
    ({ request_id }) => request_id,
  );
};

/** Row of the usage list. */
export interface GatewayUsageRow {
  readonly request_id: string;
  readonly started_at: Date;
  readonly key_id: string;
  readonly service: UsageRecord['service'];
  readonly model: string;
  readonly upstream_model: string | null;
  readonly provider: string | null;
  readonly route_id: string | null;
  readonly data_zone: string | null;
  readonly ingress_region: string;
  readonly upstream_request_id: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly outcome: UsageRecord['outcome'];
  readonly cost_micros: number;
  readonly status: number;
  readonly streamed: boolean;
  readonly first_event_ms: number | null;
  readonly duration_ms: number;
}

export interface GatewayUsageFilter {
  readonly userId: string;
  readonly keyId: string | undefined;
  readonly model: string | undefined;
  /** HTTP status of the response. */
  readonly status: number | undefined;
  /** Inclusive. */
  readonly from: string | undefined;
  /** Exclusive. */
  readonly to: string | undefined;
  /** Request id of the last record of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** An account, and optionally the only key whose requests may be read. */
export interface RequestOwner {
  readonly userId: string;
  readonly keyId: string | null;
}

/** Record of an API-key request, with the certification of its route. */
export type GatewayRecord = GatewayUsageRow & { readonly certification: string | null };

/** Finds the record of an API-key request of this owner. */
export const findGatewayRecord = async (
  database: Knex,
  { userId, keyId }: RequestOwner,
  requestId: string,
): Promise<GatewayRecord | undefined> =>
  await database('usage_records')
    .where({ svc_user_id: userId, kind: 'api_key', ...(keyId === null ? {} : { key_id: keyId }) })
    .whereRaw("id = uuid_of_id('req', ?)", [requestId])
    .first<GatewayRecord | undefined>('*');

/** Clocks of a request's id and of its start differ by less. */
const CLOCKS_MS = 86_400_000;
const NO_BYTES = new Uint8Array(16);

/** Limits a query to times of start, and the ids that it searches to those of these times. */
const startedWithin = (query: Knex.QueryBuilder, { from, to }: Pick<GatewayUsageFilter, 'from' | 'to'>): void => {
  const idAt = (ms: number): string => idOf('req', Math.max(0, ms), NO_BYTES);
  if (from !== undefined) {
    query.where('started_at', '>=', from);
    query.whereRaw("id >= uuid_of_id('req', ?)", [idAt(Date.parse(from) - CLOCKS_MS)]);
  }
  if (to !== undefined) {
    query.where('started_at', '<', to);
    query.whereRaw("id < uuid_of_id('req', ?)", [idAt(Date.parse(to) + CLOCKS_MS)]);
  }
};

/**
 * Lists the records of an account's gateway requests, newest first. Merges those of its keys, each of which an index has in
 * order.
 */
export const listGatewayUsageByUser = async (
  database: Knex,
  filter: GatewayUsageFilter,
): Promise<GatewayUsageRow[]> => {
  const { userId, keyId, model, status, after, limit } = filter;
  const ofKey = database('usage_rows AS r')
    .select('r.id')
    .whereRaw('r.caller_number = c.caller_number')
    .orderBy('r.id', 'desc')
    .limit(limit);
  if (model !== undefined) {
    ofKey.whereIn('names_number', database('usage_names').where({ model }).select('names_number'));
  }
  if (status !== undefined) ofKey.where({ status });
  startedWithin(ofKey, filter);
  if (after !== undefined) ofKey.whereRaw("r.id < uuid_of_id('req', ?)", [after]);
  const callers = database('usage_callers AS c').where({ svc_user_id: userId, kind: 'api_key' });
  if (keyId !== undefined) callers.where({ caller_id: keyId });
  const newest = callers
    .crossJoin(database.raw('LATERAL (?) AS newest', [ofKey]))
    .select('c.caller_number', 'newest.id')
    .orderBy('newest.id', 'desc')
    .limit(limit);
  return await database('usage_records AS u')
    .join(database.raw('(?) AS page', [newest]), { 'page.caller_number': 'u.caller_number', 'page.id': 'u.id' })
    .orderBy('u.id', 'desc')
    .select<GatewayUsageRow[]>('u.*');
};

/** Sums of one group. */
export interface UsageGroupRow {
  readonly name: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros: number;
}

const GROUPS = { key: 'key_id', model: 'model', day: "to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')" } as const;

/** Sums up an account's gateway requests by group. Uncertain requests count at their estimated cost. */
export const sumGatewayUsage = async (
  database: Knex,
  filter: Pick<GatewayUsageFilter, 'userId' | 'from' | 'to'> & { readonly groupBy: keyof typeof GROUPS },
): Promise<UsageGroupRow[]> => {
  const query = database('usage_records')
    .select<UsageGroupRow[]>(
      database.raw(`${GROUPS[filter.groupBy]} AS name, count(*)::float8 AS requests,
        coalesce(sum(input_tokens), 0)::float8 AS input_tokens, coalesce(sum(output_tokens), 0)::float8 AS output_tokens,
        sum(cost_micros)::float8 AS cost_micros`),
    )
    .where({ svc_user_id: filter.userId, kind: 'api_key' })
    .groupBy('name')
    .orderByRaw(filter.groupBy === 'day' ? 'name' : 'cost_micros DESC, name');
  startedWithin(query, filter);
  return await query;
};
