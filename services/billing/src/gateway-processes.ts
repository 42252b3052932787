import { HOLDER_LEASE_SECONDS, internalRoutes } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import { type Binding, bind, type Metrics } from '@svc/service-kit';
import type { Knex } from 'knex';
import { endSilent, type LeaseSweepDeps } from './leases/index.ts';
import { endHeldRequests, HELD_BATCH, listHolders, type SettlementDeps } from './reservations/index.ts';

/** Metrics of holders and their leases. */
interface HolderMeters {
  readonly alive: (count: number) => void;
  readonly expired: (count: number) => void;
  readonly ended: (count: number) => void;
}

export const createHolderMeters = (metrics: Metrics): HolderMeters => {
  const alive = metrics.gauge({
    name: 'billing_holders_alive',
    help: 'Gateway processes whose leases have not expired.',
  });
  const expired = metrics.counter({
    name: 'billing_holders_expired_total',
    help: 'Gateway processes that stopped renewing their leases.',
  });
  const ended = metrics.counter({
    name: 'billing_held_requests_ended_total',
    help: 'Delegated requests that became uncertain because their gateway process stopped renewing its lease.',
  });
  ended.inc(0);
  expired.inc(0);
  return {
    alive: (count) => alive.set(count),
    expired: (count) => expired.inc(count),
    ended: (count) => ended.inc(count),
  };
};

const RENEW_LEASE = {
  name: 'renew_lease',
  text: `INSERT INTO holders (holder_id, internal_url, expires_at) VALUES ($1, $2, billing_now() + make_interval(secs => $3))
    ON CONFLICT (holder_id) DO UPDATE SET internal_url = excluded.internal_url, expires_at = excluded.expires_at`,
};

/** Renews the lease of a holder, even if it had expired. */
const upsertLease = async (
  database: Knex,
  { holderId, internalUrl, leaseSeconds }: { holderId: string; internalUrl: string; leaseSeconds: number },
): Promise<void> => {
  await runPrepared(database, RENEW_LEASE, [holderId, internalUrl, leaseSeconds]);
};

const deleteLease = async (database: Knex, holderId: string): Promise<void> => {
  await database('holders').where({ holder_id: holderId }).delete();
};

/** Returns the given holders whose leases have not expired. */
const findLiveHolders = async (database: Knex, holderIds: readonly string[]): Promise<Set<string>> => {
  const live: string[] = await database('holders')
    .whereIn('holder_id', holderIds)
    .whereRaw('expires_at > (SELECT billing_now())')
    .pluck('holder_id');
  return new Set(live);
};

/** Deletes expired leases, except those of `busy` holders. Returns the number of deleted leases. */
const deleteExpiredLeases = async (database: Knex, busy: readonly string[]): Promise<number> =>
  await database('holders').whereRaw('expires_at <= (SELECT billing_now())').whereNotIn('holder_id', busy).delete();

const countLiveHolders = async (database: Knex): Promise<number> => {
  const [row] = await database('holders')
    .whereRaw('expires_at > (SELECT billing_now())')
    .count<{ count: number | string }[]>();
  return Number(row?.count ?? 0);
};

/** Arbitrary key of the advisory lock that only the sweep takes. */
const SWEEP_LOCK = 4_120_971;

/** Locks the sweep until the transaction ends. Returns false while another replica sweeps. */
const tryLockSweep = async (trx: Knex.Transaction): Promise<boolean> => {
  const { rows } = await trx.raw<{ rows: { is_locked: boolean }[] }>(
    'SELECT pg_try_advisory_xact_lock(?) AS is_locked',
    [SWEEP_LOCK],
  );
  return rows[0]?.is_locked === true;
};

/** Internal routes of holders. */
export const holderRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.renewHolder, async ({ params: { holder_id }, body: { internal_url } }) => {
    await upsertLease(database, { holderId: holder_id, internalUrl: internal_url, leaseSeconds: HOLDER_LEASE_SECONDS });
    return { status: 200, body: { lease_seconds: HOLDER_LEASE_SECONDS } };
  }),
  bind(internalRoutes.endHolder, async ({ params: { holder_id } }) => {
    await deleteLease(database, holder_id);
    return { status: 204 };
  }),
];

/** Maximum delay between the expiry of a lease and its detection. */
export const HOLDER_SWEEP_INTERVAL_MS = 1_000;
/** After a longer pause between sweeps, billing may have missed renewals too. */
const PAUSE_MS_MAX = 5_000;
const LEASE_MS = HOLDER_LEASE_SECONDS * 1_000;
/** Rounds per sweep. Remaining requests wait for the next sweep. */
const ROUNDS_MAX = 50;

interface HolderSweepDeps extends SettlementDeps, LeaseSweepDeps {
  readonly holderMeters: HolderMeters;
  /** Monotonic clock in milliseconds. */
  readonly monotonicMs: () => number;
}

/**
 * Creates the sweep that marks the delegated requests of dead holders uncertain, and ends silent leases of API keys. Call it every `HOLDER_SWEEP_INTERVAL_MS`. The
 * sweep acts only after it has run for a whole lease without a long pause. A process that has just started, or lost its
 * database for a while, has missed renewals and must not declare all holders dead. Only one replica sweeps at a time.
 */
export const createHolderSweep = (deps: HolderSweepDeps): (() => Promise<void>) => {
  const { database, holderMeters, monotonicMs } = deps;
  let lastSeenMs = Number.NEGATIVE_INFINITY;
  let watchingSinceMs = 0;
  /** Must be called after leases are read and before they are acted on. */
  const hasWatchedForALease = (): boolean => {
    const nowMs = monotonicMs();
    if (nowMs - lastSeenMs > PAUSE_MS_MAX) watchingSinceMs = nowMs;
    lastSeenMs = nowMs;
    return nowMs - watchingSinceMs >= LEASE_MS;
  };
  const listDead = async (): Promise<readonly string[]> => {
    const holders = await listHolders(database);
    const live = await findLiveHolders(database, holders);
    return holders.filter((holder) => !live.has(holder));
  };
  const sweep = async (): Promise<void> => {
    let dead: readonly string[] = [];
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      dead = await listDead();
      if (!hasWatchedForALease()) return;
      if (dead.length === 0 || (await endRound(deps, dead)) < HELD_BATCH) break;
    }
    await endSilent(deps);
    holderMeters.expired(await deleteExpiredLeases(database, dead));
    holderMeters.alive(await countLiveHolders(database));
  };
  return () => database.transaction(async (trx) => void ((await tryLockSweep(trx)) && (await sweep())));
};

const endRound = async (deps: HolderSweepDeps, dead: readonly string[]): Promise<number> => {
  const count = await endHeldRequests(deps, dead);
  deps.holderMeters.ended(count);
  if (count > 0) deps.logger.warn({ count }, 'requests of dead gateway processes have become uncertain');
  return count;
};
