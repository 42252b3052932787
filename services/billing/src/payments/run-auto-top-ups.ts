import type { Knex } from 'knex';
import { type JobDeps, runItems } from '../jobs.ts';
import {
  isRestoreUnfinished,
  listChargesWithoutInvoice,
  listDueAutoTopUps,
  listOpenCharges,
  lockAutoTopUp,
  readMonthStart,
  updateInvoiced,
} from './auto-top-up-queries.ts';
import {
  type CheckoutSession,
  findCheckoutSession,
  insertCheckoutSession,
  updateSessionStatus,
} from './checkout-sessions.ts';
import { readState, type SettleCheckoutDeps, settleCheckout, settleNewCharge } from './settle-checkout.ts';
import { invoiceCharge, type StripeDeps } from './stripe/index.ts';
import { takeOverPayments } from './take-over.ts';

export interface AutoTopUpDeps extends SettleCheckoutDeps, JobDeps {
  readonly newId: (prefix: 'cs' | 'sub') => string;
}

/** Accounts charged per run. The next run takes the rest. */
const CHARGES_MAX = 100;
/** Longer than Stripe's client tries to make a charge. After that its process has died or given up. */
const FINISH_AFTER_SECONDS = 60;
const REVOKED_AFTER_SECONDS = 15;

/**
 * Charges the saved payment methods of accounts whose wallet is low. Safe on several replicas at once: an account has one
 * open charge at most, and Stripe makes each charge once. After a restore of the database nothing is charged until
 * `after-restore` has ended.
 */
export const runAutoTopUps = async (deps: AutoTopUpDeps): Promise<void> => {
  if (await isRestoreUnfinished(deps.database)) return;
  const userIds = await listDueAutoTopUps(deps.database, { limit: CHARGES_MAX });
  await runItems(deps, 'automatic_top_ups', userIds, (userId) => topUp(deps, userId));
};

/** Ends charges that were interrupted: credits those that Stripe has made, and drops the others. */
export const finishCharges = async (deps: AutoTopUpDeps): Promise<void> => {
  const ages = { afterSeconds: FINISH_AFTER_SECONDS, revokedAfterSeconds: REVOKED_AFTER_SECONDS };
  const ids = await listOpenCharges(deps.database, ages, CHARGES_MAX);
  await runItems(deps, 'automatic_charges', ids, (id) => finishCharge(deps, id));
};

/** Charges one account. The database may have been restored, so Stripe's payments of this month come first. */
const topUp = async (deps: AutoTopUpDeps, userId: string): Promise<void> => {
  await takeOverPayments(deps, userId, await readMonthStart(deps.database));
  const newAt = deps.clock();
  const session = await deps.database.transaction((trx) => startCharge(deps, trx, userId));
  if (session !== undefined) await settleNewCharge(deps, session, newAt);
};

/** Stores a charge before Stripe makes it. Under the lock of the settings, the ceiling of the month is exact. */
const startCharge = async (
  { newId, currency }: AutoTopUpDeps,
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
    isAutomatic: true,
  });
  return findCheckoutSession(trx, id);
};

/**
 * Ends one charge. The wish for one that Stripe does not know is old: if its owner still has it, the next run of
 * `runAutoTopUps` makes another charge.
 */
const finishCharge = async (deps: AutoTopUpDeps, id: string): Promise<void> => {
  const session = await findCheckoutSession(deps.database, id);
  if (session?.status !== 'open') return;
  const isKnown = (await readState(deps, session)) !== undefined;
  if (isKnown) await settleCheckout(deps, session);
  else await updateSessionStatus(deps.database, id, { status: 'expired' });
};

/** Charges per call. The next call takes the rest. */
const INVOICED_MAX = 50;

type InvoiceDeps = JobDeps & StripeDeps;

/** Has Stripe write the invoices of automatic charges, which have no hosted checkout that does. */
export const invoiceCharges = async (deps: InvoiceDeps): Promise<void> => {
  const ids = await listChargesWithoutInvoice(deps.database, INVOICED_MAX);
  await runItems(deps, 'invoices', ids, (id) => invoiceOne(deps, id));
};

const invoiceOne = async (deps: InvoiceDeps, id: string): Promise<void> => {
  const { database, logger } = deps;
  const session = await findCheckoutSession(database, id);
  if (session === undefined) return;
  const { userId, startedAt, providerSessionId, asked } = session;
  if (asked === null || providerSessionId === null) throw new Error('a completed charge has no payment');
  if (!(await invoiceCharge(deps, { ...asked, chargeId: id, userId, startedAt, providerSessionId }))) {
    const fields = { checkout_session_id: id, user_id: userId };
    logger.error(fields, 'a charge stays without an invoice, because its customer is gone at Stripe');
  }
  await updateInvoiced(database, id);
};
