import type { ReservationState, UncertainReservation } from '@svc/contracts';
import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import type { RequestRecord } from './reservation.ts';

const COLUMNS = recordColumns<RequestRecord>({
  requestId: 'request_id text',
  state: 'state text',
  costMicros: 'cost_micros bigint',
  createdAt: 'created_at timestamptz',
  endedAt: 'ended_at timestamptz',
});

interface UncertainRow extends Pick<UncertainReservation, 'request_id' | 'svc_user_id' | 'estimate_micros'> {
  readonly kind: string;
  readonly service: string | null;
  readonly created_at: Date;
  readonly uncertain_at: Date;
}

/** Lists a page of uncertain reservations, oldest first. `after` is the last id of the previous page. */
export const listUncertain = async (
  database: Knex,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<UncertainReservation[]> => {
  const rows: UncertainRow[] = await database('reservations')
    .where({ state: 'uncertain' })
    .modify((query) => {
      if (after === undefined) return;
      const seen = database('reservations').select('uncertain_at', 'request_id').where({ request_id: after });
      query.whereRaw('(uncertain_at, request_id) > (?)', [seen]);
    })
    .orderBy(['uncertain_at', 'request_id'])
    .limit(limit)
    .select('request_id', 'kind', 'svc_user_id', 'service', 'estimate_micros', 'created_at', 'uncertain_at');
  return rows.map(({ kind, service, created_at, uncertain_at, ...row }) => ({
    ...row,
    service: service ?? kind,
    created_at: created_at.toISOString(),
    uncertain_at: uncertain_at.toISOString(),
  }));
};

export const findReservationState = async (
  database: Knex,
  requestId: string,
): Promise<ReservationState | undefined> => {
  const row = await database('reservations').where({ request_id: requestId }).first('state');
  return row?.state;
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

/** Returns the states of requests, in the given order; null for requests that were never admitted. */
export const listRequestStates = async (
  database: Knex,
  requestIds: readonly string[],
): Promise<(Pick<RequestRecord, 'state' | 'costMicros'> | null)[]> => {
  const requests = await selectRequests(database).whereIn('request_id', requestIds);
  const found = new Map(requests.map((request) => [request.requestId, request]));
  return requestIds.map((requestId) => found.get(requestId) ?? null);
};

const selectRequests = (database: Knex) =>
  database('reservations').select<RequestRecord[]>(database.raw(COLUMNS.select('reservations')));

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
