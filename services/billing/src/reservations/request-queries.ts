import type { ReservationState, UncertainReservation } from '@svc/contracts';
import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import { listUncertainKeyRequests } from '../leases/index.ts';
import type { RequestRecord } from './reservation.ts';

const COLUMNS = recordColumns<Omit<RequestRecord, 'paidBy'>>({
  requestId: 'request_id text',
  state: 'state text',
  costMicros: 'cost_micros bigint',
  createdAt: 'created_at timestamptz',
  endedAt: 'ended_at timestamptz',
});

/** The wallet pays the requests that count for a ceiling. */
export const PAID_BY = `CASE WHEN extra_month IS NULL THEN 'plan' ELSE 'wallet' END`;

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
