import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';

const RENEW_LEASE = {
  name: 'renew_lease',
  text: `INSERT INTO holders (holder_id, internal_url, expires_at) VALUES ($1, $2, billing_now() + make_interval(secs => $3))
    ON CONFLICT (holder_id) DO UPDATE SET internal_url = excluded.internal_url, expires_at = excluded.expires_at`,
};

/** Renews the lease of a holder, even if it had expired. */
export const upsertLease = async (
  database: Knex,
  { holderId, internalUrl, leaseSeconds }: { holderId: string; internalUrl: string; leaseSeconds: number },
): Promise<void> => {
  await runPrepared(database, RENEW_LEASE, [holderId, internalUrl, leaseSeconds]);
};

export const deleteLease = async (database: Knex, holderId: string): Promise<void> => {
  await database('holders').where({ holder_id: holderId }).delete();
};

/** Returns the given holders whose leases have not expired. */
export const findLiveHolders = async (database: Knex, holderIds: readonly string[]): Promise<Set<string>> => {
  const live: string[] = await database('holders')
    .whereIn('holder_id', holderIds)
    .whereRaw('expires_at > (SELECT billing_now())')
    .pluck('holder_id');
  return new Set(live);
};

/** Deletes expired leases, except those of `busy` holders. Returns the number of deleted leases. */
export const deleteExpiredLeases = async (database: Knex, busy: readonly string[]): Promise<number> =>
  await database('holders').whereRaw('expires_at <= (SELECT billing_now())').whereNotIn('holder_id', busy).delete();

export const countLiveHolders = async (database: Knex): Promise<number> => {
  const [row] = await database('holders')
    .whereRaw('expires_at > (SELECT billing_now())')
    .count<{ count: number | string }[]>();
  return Number(row?.count ?? 0);
};

/** Arbitrary key of the advisory lock that only the sweep takes. */
const SWEEP_LOCK = 4_120_971;

/** Locks the sweep until the transaction ends. Returns false while another replica sweeps. */
export const tryLockSweep = async (trx: Knex.Transaction): Promise<boolean> => {
  const { rows } = await trx.raw<{ rows: { is_locked: boolean }[] }>(
    'SELECT pg_try_advisory_xact_lock(?) AS is_locked',
    [SWEEP_LOCK],
  );
  return rows[0]?.is_locked === true;
};
