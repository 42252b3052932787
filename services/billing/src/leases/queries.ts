import type { LeaseAnswer, LeaseAsk, RecalledLeases } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';

/** Answer to one ask, with the leases that may hold what it was refused. */
export interface AskedLease {
  readonly answer: LeaseAnswer;
  /** Null if nothing was refused. */
  readonly recalled: readonly string[] | null;
}

const ASK_LEASES = {
  name: 'ask_leases',
  text: 'SELECT answer, recalled FROM ask_leases($1, $2::jsonb) ORDER BY place',
};

/** Reports leases and asks for their requests in one round trip. Returns the answers in the order of the asks. */
export const askLeases = async (
  database: Knex,
  holderId: string,
  asks: readonly LeaseAsk[],
): Promise<readonly AskedLease[]> =>
  await runPrepared<AskedLease>(database, ASK_LEASES, [holderId, JSON.stringify(asks)]);

const REPORT_LEASES = { name: 'report_leases', text: 'SELECT report_leases($1::jsonb) AS "leaseId"' };

/** Applies the reports of recalled leases. Returns those whose wallet is locked, which have to be sent again. */
export const reportLeases = async (
  database: Knex,
  leases: RecalledLeases['leases'],
): Promise<RecalledLeases['leases']> => {
  if (leases.length === 0) return [];
  const rows = await runPrepared<{ leaseId: string }>(database, REPORT_LEASES, [JSON.stringify(leases)]);
  const locked = new Set(rows.map(({ leaseId }) => leaseId));
  return leases.filter(({ lease_id }) => locked.has(lease_id));
};

/** A live holder and some of its leases. */
export interface LeaseHolder {
  readonly internalUrl: string;
  readonly leaseIds: readonly string[];
}

const LIST_LEASE_HOLDERS = {
  name: 'list_lease_holders',
  text: `
    SELECT h.internal_url AS "internalUrl", array_agg(l.lease_id) AS "leaseIds"
    FROM leases AS l JOIN holders AS h ON h.holder_id = l.holder_id::text
    WHERE l.lease_id = ANY ($1::uuid[]) AND h.expires_at > (SELECT billing_now()) GROUP BY h.holder_id`,
};

/** Lists the live holders of leases. */
export const listLeaseHolders = async (database: Knex, leaseIds: readonly string[]): Promise<readonly LeaseHolder[]> =>
  await runPrepared<LeaseHolder>(database, LIST_LEASE_HOLDERS, [leaseIds]);

/**
 * Lists leases of a wallet that hold a part of it, at most `limit`. If there are any, leases of the wallet get nothing ahead
 * of need until they can be recalled.
 */
export const pauseHoldingLeases = async (database: Knex, userId: string, limit: number): Promise<string[]> => {
  const leaseIds = await database('leases')
    .where({ svc_user_id: userId, ended_at: null })
    .whereRaw('granted_micros - returned_micros > settled_micros')
    .limit(limit)
    .pluck<string[]>('lease_id');
  if (leaseIds.length > 0) await database.raw('SELECT pause_grants(?)', [userId]);
  return leaseIds;
};

const SET_MEMBER_LIMIT = { name: 'set_member_limit', text: 'SELECT set_member_limit($1, $2, $3) AS "leaseId"' };

/** Finds the monthly limit of a member; null for none. */
export const findMemberLimit = async (
  database: Knex,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<number | null> => {
  const row = await database('member_limits')
    .where({ svc_user_id: organizationId, member_id: userId })
    .first<{ monthly_limit_micros: number } | undefined>('monthly_limit_micros');
  return row?.monthly_limit_micros ?? null;
};

/** Sets the monthly limit of a member; null for none. Returns the leases of the member's keys that hold something. */
export const setMemberLimit = async (
  trx: Knex.Transaction,
  member: { readonly organizationId: string; readonly userId: string },
  limitMicros: number | null,
): Promise<string[]> => {
  const values = [member.organizationId, member.userId, limitMicros];
  return (await runPrepared<{ leaseId: string }>(trx, SET_MEMBER_LIMIT, values)).map(({ leaseId }) => leaseId);
};

/** Ends leases that have not been reported for `silentSeconds`; at most `limit`. Returns their number. */
export const endSilentLeases = async (
  database: Knex,
  { silentSeconds, limit }: { readonly silentSeconds: number; readonly limit: number },
): Promise<number> => {
  const { rows } = await database.raw<{ rows: { ended: number }[] }>(
    'SELECT end_silent_leases(billing_now() - make_interval(secs => ?), ?) AS ended',
    [silentSeconds, limit],
  );
  return rows[0]?.ended ?? 0;
};

/** A lost lease, and what it was charged for outcomes that never arrived. */
export interface EstimatedLease {
  readonly leaseId: string;
  readonly estimatedMicros: number;
}

/** Charges lost leases whose outcomes have been missing for `ageSeconds`; at most `limit`. */
export const settleLostLeases = async (
  database: Knex,
  { currency, ageSeconds, limit }: { readonly currency: string; readonly ageSeconds: number; readonly limit: number },
): Promise<readonly EstimatedLease[]> => {
  const { rows } = await database.raw<{ rows: EstimatedLease[] }>(
    `SELECT lease_id AS "leaseId", estimated_micros::float8 AS "estimatedMicros"
     FROM settle_lost_leases(billing_now() - make_interval(secs => ?), ?, ?)`,
    [ageSeconds, currency, limit],
  );
  return rows;
};

/** Deletes idempotency keys of API-key requests that are older than `ageSeconds`; at most `limit`. Returns their number. */
export const deleteOldIdempotencyKeys = async (
  database: Knex,
  { ageSeconds, limit }: { readonly ageSeconds: number; readonly limit: number },
): Promise<number> => {
  const { rowCount } = await database.raw<{ rowCount: number }>(
    `DELETE FROM key_idempotency WHERE ctid = ANY (ARRAY(SELECT ctid FROM key_idempotency
       WHERE created_at < billing_now() - make_interval(secs => ?) ORDER BY created_at LIMIT ?))`,
    [ageSeconds, limit],
  );
  return rowCount;
};
