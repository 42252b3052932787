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

/**
 * Numbers the rows of a parameter: `table` holds those that are known, and gets the others. A row that another replica has just
 * added is locked, as this statement does not see it yet.
 */
const numbered = (
  name: string,
  parameter: number,
  {
    table,
    number,
    columns,
    key,
  }: { table: string; number: string; columns: Record<string, string>; key: readonly string[] },
) => `
  given_${name} AS MATERIALIZED (
    SELECT * FROM ROWS FROM (jsonb_to_recordset($${parameter}::jsonb) AS (${typed(columns)})) WITH ORDINALITY AS g (${list(columns)}, place)
  ), known_${name} AS MATERIALIZED (
    SELECT g.place, t.${number} FROM given_${name} AS g JOIN ${table} AS t ON ${key.map((column) => `t.${column} = g.${column}`).join(' AND ')}
  ), added_${name} AS (
    INSERT INTO ${table} (${list(columns)}) SELECT ${list(columns)} FROM given_${name} AS g
      WHERE g.place NOT IN (SELECT k.place FROM known_${name} AS k) ORDER BY g.place
      ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${key[0]} = excluded.${key[0]}
      RETURNING ${number}, ${key.join(', ')}
  ), ${name} AS (
    SELECT place, ${number} FROM known_${name}
    UNION ALL SELECT g.place, a.${number} FROM given_${name} AS g JOIN added_${name} AS a ON ${key.map((column) => `a.${column} = g.${column}`).join(' AND ')}
  )`;

const RECORD_USAGE = {
  name: 'record_usage',
  text: `
  WITH ${numbered('callers', 2, { table: 'usage_callers', number: 'caller_number', columns: CALLER, key: Object.keys(CALLER) })},
  ${numbered('names', 3, {
    table: 'usage_names',
    number: 'names_number',
    columns: { month: 'date', digest: 'uuid', ...NAMES },
    key: ['month', 'digest'],
  })}, recorded AS (
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
  const callers = createPlaces(records.map(toCaller));
  const names = createPlaces(records.map(toNames));
  const rows = records.map((record, index) => ({
    ...toRow(record),
    caller: callers.places[index],
    names: names.places[index],
  }));
  const shared = names.distinct.map((text) => ({ ...JSON.parse(text), digest: digestOf(text) }));
  const values = [JSON.stringify(rows), `[${callers.distinct.join()}]`, JSON.stringify(shared)];
  await runPrepared(database, RECORD_USAGE, [...values, ...outboxValues(fact)]);
};

/** Returns the distinct values as JSON, sorted so that no two replicas wait for each other, and the place of each, from 1. */
const createPlaces = (values: readonly object[]) => {
  const texts = values.map((value) => JSON.stringify(value));
  const distinct = [...new Set(texts)].sort();
  const placeOf = new Map(distinct.map((text, index) => [text, index + 1]));
  return { distinct, places: texts.map((text) => placeOf.get(text)) };
};

const DIGEST_DIGITS = 32;
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, DIGEST_DIGITS);

const toCaller = (record: UsageRecord): Record<keyof typeof CALLER, unknown> => ({
  svc_user_id: record.userId,
  kind: record.kind,
  caller_id: record.kind === 'api_key' ? record.keyId : record.clientId,
});

const MONTH_CHARACTERS = 7;

const toNames = (record: UsageRecord): Record<'month' | keyof typeof NAMES, unknown> => ({
  month: `${new Date(record.startedAtMs).toISOString().slice(0, MONTH_CHARACTERS)}-01`,
  service: record.service,
  model: record.model,
  upstream_model: record.upstreamModel,
  provider: record.servedBy?.provider ?? null,
  route_id: record.servedBy?.routeId ?? null,
  data_zone: record.servedBy?.dataZone ?? null,
  certification: record.servedBy?.certification ?? null,
  ingress_region: record.ingressRegion,
});

const toRow = (record: UsageRecord): Record<'request_id' | keyof typeof COLUMNS, unknown> => ({
  request_id: record.requestId,
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
