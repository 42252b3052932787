import { HOLDER_LEASE_SECONDS } from '@svc/contracts';
import { endSilent, type LeaseSweepDeps } from '../leases/index.ts';
import { endHeldRequests, HELD_BATCH, listHolders, type SettlementDeps } from '../reservations/index.ts';
import type { HolderMeters } from './meters.ts';
import { countLiveHolders, deleteExpiredLeases, findLiveHolders, tryLockSweep } from './queries.ts';

/** Maximum delay between the expiry of a lease and its detection. */
export const HOLDER_SWEEP_INTERVAL_MS = 1_000;
/** After a longer pause between sweeps, billing may have missed renewals too. */
const PAUSE_MS_MAX = 5_000;
const LEASE_MS = HOLDER_LEASE_SECONDS * 1_000;
/** Rounds per sweep. Remaining requests wait for the next sweep. */
const ROUNDS_MAX = 50;

export interface HolderSweepDeps extends SettlementDeps, LeaseSweepDeps {
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
