import type { UsageFact } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { PAID_BY } from './request-queries.ts';
import type { SettledReservation } from './reservation.ts';

const INSERT_DETAILS = {
  name: 'insert_request_details',
  text: `
    INSERT INTO request_details (id, input_tokens, output_tokens, cached_input_tokens, audio_ms)
      SELECT uuid_of_id('req', t.id), t.input, t.output, t.cached, t.audio
      FROM unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::int[]) AS t (id, input, output, cached, audio)
      ON CONFLICT DO NOTHING`,
};

/** Stores the details of delegated requests for their receipts. The first report of a request wins. */
export const insertRequestDetails = async (trx: Knex.Transaction, facts: readonly UsageFact[]): Promise<void> => {
  if (facts.length === 0) return;
  await runPrepared(trx, INSERT_DETAILS, [
    facts.map(({ request_id }) => request_id),
    facts.map(({ input_tokens }) => toCount(input_tokens)),
    facts.map(({ output_tokens }) => toCount(output_tokens)),
    facts.map(({ cached_input_tokens }) => toCount(cached_input_tokens)),
    facts.map(({ audio_ms }) => toCount(audio_ms)),
  ]);
};

const COUNT_MAX = 2 ** 31 - 1;

/** Limits a count to the range of its column: a provider may lie. */
const toCount = (count: number | null | undefined): number | null =>
  count == null ? null : Math.min(count, COUNT_MAX);

const columns = recordColumns<Omit<SettledReservation, 'endedAt' | 'details' | 'paidBy'>>({
  requestId: 'request_id text',
  userId: 'svc_user_id text',
  clientId: 'client_id text',
  service: 'service text',
  state: 'state text',
  settledBy: 'settled_by text',
  costMicros: 'cost_micros bigint',
  createdAt: 'created_at timestamptz',
});

const LIST_FOR_RECEIPTS = {
  name: 'list_for_receipts',
  text: `
    SELECT ${columns.select('r')}, coalesce(r.adjusted_at, r.ended_at) AS "endedAt",
      ${PAID_BY} AS "paidBy", to_jsonb(d) - 'id' AS details
    FROM reservations AS r LEFT JOIN request_details AS d ON d.id = uuid_of_id('req', r.request_id)
    WHERE r.request_id = ANY ($1) AND r.kind = 'delegated'`,
};

/** Lists delegated requests of any owner, with their details. Omits unknown ones. */
export const listForReceipts = async (database: Knex, requestIds: readonly string[]): Promise<SettledReservation[]> =>
  await runPrepared<SettledReservation>(database, LIST_FOR_RECEIPTS, [requestIds]);
