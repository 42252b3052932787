import { runPrepared } from '@svc/database';
import { type OutboxEvent, outboxInsert, outboxValues } from '@svc/messaging';
import type { Knex } from 'knex';
import type { UsageRecord } from './usage-record.ts';

/** Columns and their types. */
const COLUMNS = {
  request_id: 'text',
  started_at: 'timestamptz',
  kind: 'text',
  svc_user_id: 'text',
  client_id: 'text',
  key_id: 'text',
  service: 'text',
  model: 'text',
  upstream_model: 'text',
  provider: 'text',
  route_id: 'text',
  data_zone: 'text',
  ingress_region: 'text',
  upstream_request_id: 'text',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  audio_ms: 'bigint',
  is_estimated: 'boolean',
  outcome: 'text',
  cost_micros: 'bigint',
  status: 'smallint',
  streamed: 'boolean',
  first_event_ms: 'integer',
  duration_ms: 'integer',
} as const;

const NAMES = Object.keys(COLUMNS).join(', ');
const INSERT = `
  INSERT INTO usage_records (${NAMES})
  SELECT ${NAMES} FROM jsonb_to_recordset($1::jsonb) AS r(${Object.entries(COLUMNS)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})
  ON CONFLICT DO NOTHING`;
const RECORD_USAGE = { name: 'record_usage', text: `WITH recorded AS (${INSERT}) ${outboxInsert(2)}` };

/**
 * Inserts records and the fact that reports them, atomically in one statement, which takes one round trip instead of the
 * four of a transaction. Skips records that exist. All records are passed as one parameter.
 */
export const insertUsageRecords = async (
  database: Knex,
  records: readonly UsageRecord[],
  fact: OutboxEvent,
): Promise<void> => {
  await runPrepared(database, RECORD_USAGE, [JSON.stringify(records.map(toRow)), ...outboxValues(fact)]);
};

/** Lists the request ids that are already recorded. */
export const listRecordedRequestIds = async (
  database: Knex,
  records: readonly Pick<UsageRecord, 'requestId' | 'startedAtMs'>[],
): Promise<string[]> =>
  await database('usage_records')
    .whereIn(
      ['request_id', 'started_at'],
      records.map(({ requestId, startedAtMs }) => [requestId, new Date(startedAtMs).toISOString()]),
    )
    .pluck('request_id');

const toRow = (record: UsageRecord): Record<keyof typeof COLUMNS, unknown> => ({
  request_id: record.requestId,
  started_at: new Date(record.startedAtMs).toISOString(),
  kind: record.kind,
  svc_user_id: record.userId,
  client_id: record.clientId,
  key_id: record.keyId,
  service: record.service,
  model: record.model,
  upstream_model: record.upstreamModel,
  provider: record.servedBy?.provider ?? null,
  route_id: record.servedBy?.routeId ?? null,
  data_zone: record.servedBy?.dataZone ?? null,
  ingress_region: record.ingressRegion,
  upstream_request_id: record.upstreamRequestId,
  input_tokens: record.inputTokens,
  output_tokens: record.outputTokens,
  cached_input_tokens: record.cachedInputTokens,
  reasoning_tokens: record.reasoningTokens,
  audio_ms: record.audioMs,
  is_estimated: record.isEstimated,
  outcome: record.outcome,
  cost_micros: record.costMicros,
  status: record.status,
  streamed: record.isStreamed,
  first_event_ms: record.firstEventMs === null ? null : toDuration(record.firstEventMs),
  duration_ms: toDuration(record.finishedAtMs - record.startedAtMs),
});

const INTEGER_MAX = 2 ** 31 - 1;

/** Limits a duration to the range of its column: a machine may sleep for weeks, or set its clock. */
const toDuration = (milliseconds: number): number => Math.min(Math.max(0, Math.round(milliseconds)), INTEGER_MAX);

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

/** Cursor in the usage list of an account. */
export interface UsagePosition {
  readonly startedAt: Date;
  readonly requestId: string;
}

export interface GatewayUsageFilter {
  readonly userId: string;
  readonly keyId: string | undefined;
  readonly model: string | undefined;
  /** HTTP status of the answer. */
  readonly status: number | undefined;
  /** Inclusive. */
  readonly from: string | undefined;
  /** Exclusive. */
  readonly to: string | undefined;
  /** Last record of the previous page. */
  readonly after: UsagePosition | undefined;
  readonly limit: number;
}

/** Finds the position of a record in the list of its account; undefined if the account has no such record. */
export const findGatewayUsagePosition = async (
  database: Knex,
  { userId, requestId }: { readonly userId: string; readonly requestId: string },
): Promise<UsagePosition | undefined> => {
  const row: { started_at: Date } | undefined = await database('usage_records')
    .select('started_at')
    .where({ request_id: requestId, svc_user_id: userId, kind: 'api_key' })
    .first();
  return row === undefined ? undefined : { startedAt: row.started_at, requestId };
};

/** An account, and optionally the only key whose requests may be read. */
export interface RequestOwner {
  readonly userId: string;
  readonly keyId: string | null;
}

/** Returns true if an API-key request of this owner has a record. */
export const isRecordedFor = async (
  database: Knex,
  { userId, keyId }: RequestOwner,
  requestId: string,
): Promise<boolean> => {
  const row = await database('usage_records')
    .where({
      request_id: requestId,
      svc_user_id: userId,
      ...(keyId === null ? { kind: 'api_key' } : { key_id: keyId }),
    })
    .first('request_id');
  return row !== undefined;
};

/** Lists the records of an account's gateway requests, newest first. */
export const listGatewayUsageByUser = async (
  database: Knex,
  filter: GatewayUsageFilter,
): Promise<GatewayUsageRow[]> => {
  const { userId, keyId, model, status, from, to, after, limit } = filter;
  const query = database('usage_records')
    .select<GatewayUsageRow[]>('*')
    .where({ svc_user_id: userId, kind: 'api_key' })
    .orderBy([
      { column: 'started_at', order: 'desc' },
      { column: 'request_id', order: 'desc' },
    ])
    .limit(limit);
  if (keyId !== undefined) query.where({ key_id: keyId });
  if (model !== undefined) query.where({ model });
  if (status !== undefined) query.where({ status });
  if (from !== undefined) query.where('started_at', '>=', from);
  if (to !== undefined) query.where('started_at', '<', to);
  if (after !== undefined) query.whereRaw('(started_at, request_id) < (?, ?)', [after.startedAt, after.requestId]);
  return await query;
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
  if (filter.from !== undefined) query.where('started_at', '>=', filter.from);
  if (filter.to !== undefined) query.where('started_at', '<', filter.to);
  return await query;
};
