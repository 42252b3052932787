import type { Knex } from 'knex';
import { listDueAutoTopUps, listOpenCharges, lockAutoTopUp } from './auto-top-up-queries.ts';
import type { CheckoutSession } from './checkout-session.ts';
import { findCheckoutSession, insertCheckoutSession } from './queries.ts';
import { type SettleCheckoutDeps, settleCheckout } from './settle-checkout.ts';

export type AutoTopUpDeps = SettleCheckoutDeps & { readonly newId: (prefix: 'cs' | 'sub') => string };

/** Accounts charged per run. The next run takes the rest. */
const CHARGES_MAX = 100;
/** An open charge is finished by another run once its own has surely died or given up. */
const FINISH_AFTER_SECONDS = 15;

/**
 * Charges the saved payment methods of accounts whose wallet is low, and finishes charges that were interrupted. Safe on
 * several replicas at once: an account has one open charge at most, and the provider makes each charge once. Throws the
 * first failure in the end.
 */
export const runAutoTopUps = async (deps: AutoTopUpDeps): Promise<void> => {
  const { database } = deps;
  const failures: unknown[] = [];
  const attempt = (work: Promise<unknown>) => work.catch((error: unknown) => failures.push(error));
  for (const id of await listOpenCharges(database, FINISH_AFTER_SECONDS, CHARGES_MAX)) {
    const session = await findCheckoutSession(database, id);
    if (session !== undefined) await attempt(settleCheckout(deps, session));
  }
  for (const userId of await listDueAutoTopUps(database, { limit: CHARGES_MAX })) {
    await attempt(topUp(deps, userId));
  }
  if (failures.length > 0) throw failures[0];
};

const topUp = async (deps: AutoTopUpDeps, userId: string): Promise<void> => {
  const session = await deps.database.transaction((trx) => startCharge(deps, trx, userId));
  if (session !== undefined) await settleCheckout(deps, session);
};

/** Stores a charge before the provider makes it. Under the lock of the settings, the ceiling of the month is exact. */
const startCharge = async (
  { newId, currency, provider }: AutoTopUpDeps,
  trx: Knex.Transaction,
  userId: string,
): Promise<CheckoutSession | undefined> => {
  const settings = await lockAutoTopUp(trx, userId);
  if (settings === undefined || (await listDueAutoTopUps(trx, { userId, limit: 1 })).length === 0) return undefined;
  const id = newId('cs');
  const amountMicros = settings.amount_micros;
  await insertCheckoutSession(trx, {
    id,
    userId,
    kind: 'top_up',
    planId: null,
    amountMicros,
    asked: { amountMicros, currency },
    provider: provider.name,
    isAutomatic: true,
  });
  return findCheckoutSession(trx, id);
};
