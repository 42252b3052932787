import type { ReservationState, UncertainReservation } from '@svc/contracts';
import type { Knex } from 'knex';
import type { RequestRecord } from './reservation.ts';

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
): Promise<RequestRecord | undefined> => {
  const row = await database('reservations')
    .where({ request_id: requestId, svc_user_id: owner.userId, client_id: owner.clientId })
    .first('state', 'cost_micros', 'created_at', 'ended_at');
  if (row === undefined) return undefined;
  return {
    requestId,
    state: row.state,
    costMicros: row.cost_micros,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
};

/** Returns the states of requests, in the given order; null for requests that were never admitted. */
export const listRequestStates = async (
  database: Knex,
  requestIds: readonly string[],
): Promise<(Pick<RequestRecord, 'state' | 'costMicros'> | null)[]> => {
  const rows: { request_id: string; state: ReservationState; cost_micros: number | null }[] = await database(
    'reservations',
  )
    .whereIn('request_id', requestIds)
    .select('request_id', 'state', 'cost_micros');
  const found = new Map(rows.map((row) => [row.request_id, { state: row.state, costMicros: row.cost_micros }]));
  return requestIds.map((requestId) => found.get(requestId) ?? null);
};

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
