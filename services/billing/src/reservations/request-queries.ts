import type { ReservationState, UncertainReservation, UsageFact } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { listUncertainKeyRequests } from '../leases/index.ts';
import type { RequestRecord, SettledReservation } from './reservation.ts';

const COLUMNS = recordColumns<Omit<RequestRecord, 'paidBy'>>({
  requestId: 'request_id text',
  state: 'state text',
  costMicros: 'cost_micros bigint',
  createdAt: 'created_at timestamptz',
  endedAt: 'ended_at timestamptz',
});

/** The wallet pays the requests that count for a ceiling. */
const PAID_BY = `CASE WHEN extra_month IS NULL THEN 'plan' ELSE 'wallet' END`;

interface UncertainRow
  extends Pick<UncertainReservation, 'request_id' | 'svc_user_id' | 'service' | 'estimate_micros'> {
  readonly created_at: Date;
  readonly uncertain_at: Date;
}

/** Lists a page of uncertain requests of apps and keys, oldest first. `after` is the last id of the previous page. */
export const listUncertain = async (
  database: Knex,
  page: { readonly after: string | undefined; readonly limit: number },
): Promise<UncertainReservation[]> => {
  const ofApps: UncertainRow[] = await database('reservations')
    .where({ state: 'uncertain' })
    .modify((query) => page.after !== undefined && query.where('request_id', '>', page.after))
    .orderBy('request_id')
    .limit(page.limit)
    .select('request_id', 'svc_user_id', 'service', 'estimate_micros', 'created_at', 'uncertain_at');
  const ofKeys = (await listUncertainKeyRequests(database, page)).map((request) => ({
    request_id: request.requestId,
    svc_user_id: request.userId,
    service: request.service,
    estimate_micros: request.heldMicros,
    created_at: request.createdAt,
    uncertain_at: request.uncertainAt,
  }));
  return [...ofApps, ...ofKeys]
    .sort((one, other) => (one.request_id < other.request_id ? -1 : 1))
    .slice(0, page.limit)
    .map(({ created_at, uncertain_at, ...row }) => ({
      ...row,
      created_at: created_at.toISOString(),
      uncertain_at: uncertain_at.toISOString(),
    }));
};

/** State of a request, and the account of its key; null for a delegated one. */
export interface FoundRequest {
  readonly state: ReservationState;
  readonly keyOwner: string | null;
}

/** Finds a request of an app or key, open or ended. */
export const findUncertain = async (database: Knex, requestId: string): Promise<FoundRequest | undefined> => {
  const { rows } = await database.raw<{ rows: FoundRequest[] }>(
    `SELECT state, NULL AS "keyOwner" FROM reservations WHERE request_id = :requestId
     UNION ALL SELECT state, svc_user_id FROM key_requests WHERE id = uuid_of_id('req', :requestId)
     UNION ALL SELECT 'uncertain', svc_user_id FROM uncertain_key_requests WHERE request_id = :requestId`,
    { requestId },
  );
  return rows[0];
};

/** Finds a delegated request by its user and app. */
export const findRequestByOwner = async (
  database: Knex,
  requestId: string,
  owner: { userId: string; clientId: string },
): Promise<RequestRecord | undefined> =>
  await selectRequests(database)
    .where({ request_id: requestId, svc_user_id: owner.userId, client_id: owner.clientId })
    .first();

const selectRequests = (database: Knex) =>
  database('reservations').select<RequestRecord[]>(
    database.raw(`${COLUMNS.select('reservations')}, ${PAID_BY} AS "paidBy"`),
  );

/** Use of one service through one app on one day. */
export interface DayUse {
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly clientId: string;
  readonly service: 'chat' | 'audio_transcription';
  readonly requests: number;
  readonly costMicros: number;
}

/** Returns today's date, and the use of an account on the given number of days up to today, oldest day first. */
export const listDayUse = async (
  database: Knex,
  userId: string,
  days: number,
): Promise<{ today: string; uses: DayUse[] }> => {
  const { rows } = await database.raw<{ rows: { today: string; uses: DayUse[] }[] }>(
    `SELECT to_char(t.day, 'YYYY-MM-DD') AS today, (
       SELECT coalesce(jsonb_agg(jsonb_build_object('day', to_char(d.day, 'YYYY-MM-DD'), 'clientId', d.client_id,
         'service', d.service, 'requests', d.requests, 'costMicros', d.cost_micros) ORDER BY d.day, d.cost_micros DESC), '[]')
       FROM usage_days AS d WHERE d.svc_user_id = ? AND d.day > t.day - ?::int AND d.day <= t.day) AS uses
     FROM (SELECT (billing_now() AT TIME ZONE 'UTC')::date AS day) AS t`,
    [userId, days],
  );
  return onlyRow(rows);
};

const onlyRow = <T>(rows: readonly T[]): T => {
  const [row] = rows;
  if (row === undefined) throw new Error('a query that always returns a row returned none');
  return row;
};

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
