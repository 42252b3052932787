import type { Sealer } from '@svc/secrets';
import { AppError, type Clock } from '@svc/service-kit';
import { DAY_MS, HOUR_MS } from '../time.ts';
import type { Transact, Transaction } from '../transact.ts';
import {
  activateSigningKey,
  deleteSigningKey,
  insertSigningKey,
  listSigningKeys,
  lockSigningKeys,
  retireSigningKey,
} from './queries.ts';
import { generateSigningKey, isKeyForgettable, type StoredSigningKey } from './signing-key.ts';

/** Verifiers fetch the key set at least this often, so a key must be published longer before it signs. */
const PUBLISHED_BEFORE_USE_MS = HOUR_MS;

export interface RotateSigningKeysDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly rotationDays: number;
}

/**
 * Ensures one active key, one next key and no obsolete retired keys. Creates them at the first start. Activates the
 * next key when the active one is old or must be replaced. Idempotent, and safe on any replica.
 */
export const rotateSigningKeys = async (
  deps: RotateSigningKeysDeps,
  { replaceActiveKid }: { readonly replaceActiveKid?: string } = {},
): Promise<boolean> =>
  await deps.transact(async (trx) => {
    await lockSigningKeys(trx);
    const keys = await listSigningKeys(trx);
    const now = deps.clock();
    const active = keys.find((key) => key.state === 'active');
    const next = keys.find((key) => key.state === 'next');
    const isNextTaken = await replaceActive(trx, { active, next, now, deps, replaceActiveKid });
    if (next === undefined || isNextTaken) await insertSigningKey(trx, await generateSigningKey(deps.sealer, now));
    for (const key of keys) if (isKeyForgettable(key, now)) await deleteSigningKey(trx, key.kid);
    return isNextTaken;
  });

interface Replacement {
  readonly active: StoredSigningKey | undefined;
  readonly next: StoredSigningKey | undefined;
  readonly now: Date;
  readonly deps: RotateSigningKeysDeps;
  readonly replaceActiveKid: string | undefined;
}

/** Returns true if the next key became the active one. */
const replaceActive = async (
  trx: Transaction,
  { active, next, now, deps, replaceActiveKid }: Replacement,
): Promise<boolean> => {
  if (active === undefined) {
    const first = next ?? (await generateSigningKey(deps.sealer, now));
    if (next === undefined) await insertSigningKey(trx, first);
    await activateSigningKey(trx, first.kid, now);
    return next !== undefined;
  }
  const isOld = now.getTime() - (active.activatedAt?.getTime() ?? 0) >= deps.rotationDays * DAY_MS;
  const isNextKnown = next !== undefined && now.getTime() - next.createdAt.getTime() > PUBLISHED_BEFORE_USE_MS;
  const isUnwanted = active.kid === replaceActiveKid;
  if (isUnwanted && !isNextKnown) throw new AppError('signing_key_not_ready');
  if (!(isOld || isUnwanted) || !isNextKnown) return false;
  await retireSigningKey(trx, active.kid, now);
  await activateSigningKey(trx, next.kid, now);
  return true;
};
