import type { ReservationState } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';

/** State and cost of an API-key request. */
export interface KeyRequestState {
  readonly requestId: string;
  readonly state: ReservationState;
  readonly costMicros: number | null;
}

/** Lists the states of an account's API-key requests that have ended. Omits all others. */
export const listKeyRequestStates = async (
  database: Knex,
  userId: string,
  requestIds: readonly string[],
): Promise<KeyRequestState[]> => {
  const { rows } = await database.raw<{ rows: KeyRequestState[] }>(
    `SELECT request_id AS "requestId", state, cost_micros::float8 AS "costMicros" FROM key_requests
       WHERE id = ANY (ARRAY(SELECT uuid_of_id('req', t.id) FROM unnest(:requestIds::text[]) AS t (id))) AND svc_user_id = :userId
     UNION ALL SELECT request_id, 'uncertain', NULL FROM uncertain_key_requests
       WHERE request_id = ANY (:requestIds) AND svc_user_id = :userId`,
    { userId, requestIds: [...requestIds] },
  );
  return rows;
};

/** An ended API-key request as shown on its receipt. */
export interface KeyRequestRecord {
  readonly requestId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly state: 'settled' | 'released' | 'uncertain';
  readonly settledBy: 'usage' | 'estimate' | null;
  readonly costMicros: number;
  /** Time of the latest settlement. */
  readonly endedAt: Date;
}

const columns = recordColumns<KeyRequestRecord>({
  requestId: 'request_id text',
  userId: 'svc_user_id text',
  keyId: 'key_id text',
  state: 'state text',
  settledBy: 'settled_by text',
  costMicros: 'cost_micros bigint',
  endedAt: 'ended_at timestamptz',
});

const LIST_RECORDS = {
  name: 'list_key_request_records',
  text: `SELECT ${columns.select('r')} FROM key_requests AS r
    WHERE r.id = ANY (ARRAY(SELECT uuid_of_id('req', t.id) FROM unnest($1::text[]) AS t (id)))`,
};

/** Lists ended API-key requests of any account. Omits all others. */
export const listKeyRequestRecords = async (
  database: Knex,
  requestIds: readonly string[],
): Promise<KeyRequestRecord[]> => await runPrepared<KeyRequestRecord>(database, LIST_RECORDS, [requestIds]);

/** An API-key request whose outcome is unknown. */
export interface UncertainKeyRequest {
  readonly requestId: string;
  readonly userId: string;
  readonly service: string;
  readonly heldMicros: number;
  readonly createdAt: Date;
  readonly uncertainAt: Date;
}

/** Lists API-key requests that became uncertain after a position, oldest first. */
export const listUncertainKeyRequests = async (
  database: Knex,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<UncertainKeyRequest[]> => {
  const { rows } = await database.raw<{ rows: UncertainKeyRequest[] }>(
    `SELECT request_id AS "requestId", svc_user_id AS "userId", coalesce(fact ->> 'service', 'api_key') AS service,
       held_micros::float8 AS "heldMicros", (fact ->> 'started_at')::timestamptz AS "createdAt", uncertain_at AS "uncertainAt"
     FROM uncertain_key_requests
     WHERE :after::text IS NULL OR request_id > :after ORDER BY request_id LIMIT :limit`,
    { after: after ?? null, limit },
  );
  return rows;
};

/** Lists API-key requests that have been uncertain for longer than `ageSeconds`, oldest first. */
export const listOverdueKeyRequests = async (
  database: Knex,
  ageSeconds: number,
  limit: number,
): Promise<{ request_id: string; svc_user_id: string }[]> =>
  await database('uncertain_key_requests')
    .whereRaw('uncertain_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds])
    .orderBy('uncertain_at')
    .limit(limit)
    .select('request_id', 'svc_user_id');
