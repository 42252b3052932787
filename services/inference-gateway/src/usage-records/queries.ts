import type { Knex } from 'knex';
import type { UsageRecord } from './usage-record.ts';

/** Columns and their types, in the order of the table. */
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
  SELECT ${NAMES} FROM jsonb_to_recordset(?::jsonb) AS r(${Object.entries(COLUMNS)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})
  ON CONFLICT DO NOTHING`;

/** Inserts records; those that are there already stay as they are. One parameter, however many records. */
export const insertUsageRecords = async (trx: Knex.Transaction, records: readonly UsageRecord[]): Promise<void> => {
  await trx.raw(INSERT, [JSON.stringify(records.map(toRow))]);
};

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
  audio_ms: record.audioMs,
  is_estimated: record.isEstimated,
  outcome: record.outcome,
  cost_micros: record.costMicros,
  status: record.status,
  streamed: record.isStreamed,
  first_event_ms: record.firstEventMs,
  duration_ms: Math.max(0, Math.round(record.finishedAtMs - record.startedAtMs)),
});
