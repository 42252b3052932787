import { createHash } from 'node:crypto';
import { runPrepared } from '@svc/database';
import { type OutboxEvent, outboxInsert, outboxValues } from '@svc/messaging';
import type { Knex } from 'knex';
import type { UsageRecord } from './usage-record.ts';

/** Columns and their types, but the numbers of caller and names. */
const COLUMNS = {
  started_at: 'timestamptz',
  cost_micros: 'bigint',
  duration_ms: 'int',
  input_tokens: 'int',
  output_tokens: 'int',
  cached_input_tokens: 'int',
  reasoning_tokens: 'int',
  audio_ms: 'int',
  first_event_ms: 'int',
  status: 'smallint',
  outcome: '"char"',
  is_estimated: 'boolean',
  streamed: 'boolean',
  upstream_request_id: 'text',
} as const;
const CALLER = { svc_user_id: 'text', kind: 'text', caller_id: 'text' } as const;
const NAMES = {
  service: 'text',
  model: 'text',
  upstream_model: 'text',
  provider: 'text',
  route_id: 'text',
  data_zone: 'text',
  certification: 'text',
  ingress_region: 'text',
} as const;

const list = (columns: Readonly<Record<string, string>>) => Object.keys(columns).join(', ');
const typed = (columns: Readonly<Record<string, string>>) =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');

interface Numbered {
  readonly table: string;
  readonly number: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Unique among these columns. */
  readonly key: string;
}

/**
 * Numbers the rows of a parameter: the table has those that are known in this month, and gets the others. A row that another
 * replica has just added or deleted is not known, so that its number is always one that lasts.
 */
const numbered = (name: string, parameter: number, { table, number, columns, key }: Numbered): string => `
  given_${name} AS MATERIALIZED (
    SELECT * FROM ROWS FROM (jsonb_to_recordset($${parameter}::jsonb) AS (${typed(columns)}, last_month date))
      WITH ORDINALITY AS g (${list(columns)}, last_month, place)
  ), known_${name} AS MATERIALIZED (
    SELECT g.place, t.${number} FROM given_${name} AS g JOIN ${table} AS t USING (${key}) WHERE t.last_month >= g.last_month
  ), added_${name} AS (
    INSERT INTO ${table} AS t (${list(columns)}, last_month) SELECT ${list(columns)}, last_month FROM given_${name} AS g
      WHERE g.place NOT IN (SELECT k.place FROM known_${name} AS k) ORDER BY g.place
      ON CONFLICT (${key}) DO UPDATE SET last_month = greatest(t.last_month, excluded.last_month)
      RETURNING ${number}, ${key}
  ), ${name} AS (
    SELECT place, ${number} FROM known_${name} UNION ALL SELECT place, ${number} FROM given_${name} JOIN added_${name} USING (${key})
  )`;

const RECORD_USAGE = {
  name: 'record_usage',
  text: `
  WITH ${numbered('callers', 2, { table: 'usage_callers', number: 'caller_number', columns: CALLER, key: list(CALLER) })},
  ${numbered('names', 3, { table: 'usage_names', number: 'names_number', columns: { digest: 'uuid', ...NAMES }, key: 'digest' })}, recorded AS (
    INSERT INTO usage_rows (id, caller_number, names_number, ${list(COLUMNS)})
    SELECT uuid_of_id('req', r.request_id), c.caller_number, n.names_number, ${list(COLUMNS)}
      FROM jsonb_to_recordset($1::jsonb) AS r (request_id text, caller bigint, names bigint, ${typed(COLUMNS)})
      LEFT JOIN callers AS c ON c.place = r.caller LEFT JOIN names AS n ON n.place = r.names
    ON CONFLICT DO NOTHING
  ) ${outboxInsert(4)}`,
};

/**
 * Inserts records and the fact that reports them, atomically in one statement, which takes one round trip instead of the
 * four of a transaction. Skips records that exist.
 */
export const insertUsageRecords = async (
  database: Knex,
  records: readonly UsageRecord[],
  fact: OutboxEvent,
): Promise<void> => {
  const callers = findDistinct(records, callerKey, toCaller);
  const names = findDistinct(records, namesKey, toNames);
  const last_month = monthOf(Math.max(...records.map(({ startedAtMs }) => startedAtMs)));
  const values = [
    records.map((record) => toRow(record, callers.placeOf(record), names.placeOf(record))),
    callers.distinct.map((caller) => ({ ...caller, last_month })),
    names.distinct.map((each) => ({ ...each, last_month, digest: digestOf(each) })),
  ].map((value) => JSON.stringify(value));
  await runPrepared(database, RECORD_USAGE, [...values, ...outboxValues(fact)]);
};

/** Finds the distinct values of records, in an order in which no two replicas wait for each other, and their places from 1. */
const findDistinct = <T>(
  records: readonly UsageRecord[],
  toKey: (record: UsageRecord) => string,
  toValue: (record: UsageRecord) => T,
) => {
  const byKey = new Map<string, UsageRecord>();
  for (const record of records) byKey.set(toKey(record), record);
  const sorted = [...byKey].sort(([one], [other]) => (one < other ? -1 : 1));
  const places = new Map(sorted.map(([key], index) => [key, index + 1]));
  return {
    distinct: sorted.map(([, record]) => toValue(record)),
    placeOf: (record: UsageRecord) => places.get(toKey(record)),
  };
};

/** No name contains it, as PostgreSQL stores none that does. */
const BREAK = '\u0000';
const callerKey = ({ userId, kind, keyId, clientId }: UsageRecord): string =>
  `${userId}${BREAK}${kind}${BREAK}${keyId}${BREAK}${clientId}`;
const namesKey = ({ service, model, upstreamModel, ingressRegion, servedBy: by }: UsageRecord): string =>
  `${service}${BREAK}${model}${BREAK}${ingressRegion}${BREAK}${upstreamModel ?? BREAK}${BREAK}${
    by === null ? '' : `${by.routeId}${BREAK}${by.provider}${BREAK}${by.dataZone}${BREAK}${by.certification ?? BREAK}`
  }`;

const MONTH_CHARACTERS = 7;
/** Returns the first day of a month. */
const monthOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, MONTH_CHARACTERS)}-01`;

const DIGEST_DIGITS = 32;
const digestOf = (names: object): string =>
  createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, DIGEST_DIGITS);

const toCaller = (record: UsageRecord): Record<keyof typeof CALLER, unknown> => ({
  svc_user_id: record.userId,
  kind: record.kind,
  caller_id: record.kind === 'api_key' ? record.keyId : record.clientId,
});

const toNames = (record: UsageRecord): Record<keyof typeof NAMES, unknown> => ({
  service: record.service,
  model: record.model,
  upstream_model: record.upstreamModel,
  provider: record.servedBy?.provider ?? null,
  route_id: record.servedBy?.routeId ?? null,
  data_zone: record.servedBy?.dataZone ?? null,
  certification: record.servedBy?.certification ?? null,
  ingress_region: record.ingressRegion,
});

type Row = Record<'request_id' | 'caller' | 'names' | keyof typeof COLUMNS, unknown>;

const toRow = (record: UsageRecord, caller: number | undefined, names: number | undefined): Row => ({
  request_id: record.requestId,
  caller,
  names,
  started_at: new Date(record.startedAtMs).toISOString(),
  cost_micros: record.costMicros,
  duration_ms: toCount(record.finishedAtMs - record.startedAtMs),
  input_tokens: toCount(record.inputTokens),
  output_tokens: toCount(record.outputTokens),
  cached_input_tokens: toCount(record.cachedInputTokens),
  reasoning_tokens: toCount(record.reasoningTokens),
  audio_ms: toCount(record.audioMs),
  first_event_ms: toCount(record.firstEventMs),
  status: record.status,
  outcome: record.outcome.charAt(0),
  is_estimated: record.isEstimated,
  streamed: record.isStreamed,
  upstream_request_id: record.upstreamRequestId,
});

const COUNT_MAX = 2 ** 31 - 1;

/** Limits a count to the range of its column: a machine may sleep for weeks, or set its clock, and a provider may lie. */
const toCount = (count: number | null): number | null =>
  count === null ? null : Math.min(Math.max(0, Math.round(count)), COUNT_MAX);
