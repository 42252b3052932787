import type { UsageFact } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { SettledReservation } from './reservation.ts';

const INSERT_DETAILS = {
  name: 'insert_request_details',
  text: `
    INSERT INTO request_details (request_id, service, input_tokens, output_tokens, cached_input_tokens, audio_ms, provider, model,
        data_zone, certification, upstream_request_id)
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
        $8::text[], $9::text[], $10::text[], $11::text[])
      ON CONFLICT DO NOTHING`,
};

/** Stores the details of requests for their receipts. The first report of a request wins. */
export const insertRequestDetails = async (trx: Knex.Transaction, facts: readonly UsageFact[]): Promise<void> => {
  const served = facts.map(({ kind, served_by }) => (kind === 'api_key' ? served_by : undefined));
  await runPrepared(trx, INSERT_DETAILS, [
    facts.map(({ request_id }) => request_id),
    facts.map(({ service }) => service),
    facts.map(({ input_tokens }) => input_tokens),
    facts.map(({ output_tokens }) => output_tokens),
    facts.map(({ cached_input_tokens }) => cached_input_tokens ?? null),
    facts.map(({ audio_ms }) => audio_ms),
    served.map((by) => by?.provider ?? null),
    served.map((by) => by?.model ?? null),
    served.map((by) => by?.data_zone ?? null),
    served.map((by) => by?.certification ?? null),
    served.map((by) => by?.upstream_request_id ?? null),
  ]);
};

const columns = recordColumns<Omit<SettledReservation, 'endedAt' | 'details'>>({
  requestId: 'request_id text',
  kind: 'kind text',
  userId: 'svc_user_id text',
  clientId: 'client_id text',
  keyId: 'key_id text',
  service: 'service text',
  state: 'state text',
  settledBy: 'settled_by text',
  costMicros: 'cost_micros bigint',
  createdAt: 'created_at timestamptz',
});

const FIND_FOR_RECEIPT = {
  name: 'find_for_receipt',
  text: `
    SELECT ${columns.select('r')}, coalesce(r.adjusted_at, r.ended_at) AS "endedAt",
      to_jsonb(d) - 'request_id' AS details
    FROM reservations AS r LEFT JOIN request_details AS d ON d.request_id = r.request_id
    WHERE r.request_id = $1 AND r.kind <> 'given_up'`,
};

/** Finds a request of any owner, with its details. */
export const findForReceipt = async (database: Knex, requestId: string): Promise<SettledReservation | undefined> =>
  (await runPrepared<SettledReservation>(database, FIND_FOR_RECEIPT, [requestId])).at(0);
