import type { Stripe } from 'stripe';
import { z } from 'zod';
import { findCheckoutSession, insertCheckoutSession, updateProviderSession } from './checkout-sessions.ts';
import { refreshReversals } from './refresh-reversals.ts';
import { type SettleCheckoutDeps, settleCheckout } from './settle-checkout.ts';
import {
  askForOne,
  CHARGE_KEY,
  findCustomerId,
  idOf,
  insertCustomer,
  PAYMENTS_MAX,
  secondsBefore,
  toPayment,
} from './stripe/index.ts';

/** Metadata written by `createCheckout`. */
const sessionMetadataSchema = z.object({
  svc_user_id: z.string().min(1),
  asked_micros: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
  asked_currency: z.string().length(3),
  plan_id: z.string().min(1).optional(),
  quantity: z
    .string()
    .regex(/^\d{1,6}$/)
    .transform(Number)
    .optional(),
});

/**
 * Credits what a customer has paid since a moment and this database does not know, as after a restore: automatic charges
 * and hosted checkouts. Stripe's lists of one customer are consistent, its search is not.
 */
export const takeOverPayments = async (deps: SettleCheckoutDeps, userId: string, since: Date): Promise<void> => {
  const customer = await findCustomerId(deps.database, userId);
  if (customer === undefined) return;
  const query = { customer, created: { gte: secondsBefore(since) }, limit: 100 };
  const payments = await askForOne(() =>
    deps.stripe.paymentIntents.list(query).autoPagingToArray({ limit: PAYMENTS_MAX }),
  );
  for (const payment of payments ?? []) await settleCharge(deps, payment);
  const sessions = await askForOne(() =>
    deps.stripe.checkout.sessions.list({ ...query, status: 'complete' }).autoPagingToArray({ limit: PAYMENTS_MAX }),
  );
  for (const session of sessions ?? []) if (session.mode === 'payment') await settleSession(deps, session);
};

/** Settles the automatic charge of a payment. */
export const settleChargeOf = async (deps: SettleCheckoutDeps, paymentId: string): Promise<void> => {
  const payment = await askForOne(() => deps.stripe.paymentIntents.retrieve(paymentId));
  if (payment !== undefined) await settleCharge(deps, payment);
};

/**
 * Settles a hosted checkout that this database does not have. After a restore to a moment before its start, it may be paid
 * when all that was paid before has been taken over.
 */
export const settleLostSession = async (deps: SettleCheckoutDeps, providerSessionId: string): Promise<void> => {
  const session = await askForOne(() => deps.stripe.checkout.sessions.retrieve(providerSessionId));
  if (session?.status === 'complete') await settleSession(deps, session);
};

/** Settles a hosted checkout. Ignores sessions without our metadata, which belong to other products. */
export const settleSession = async (deps: SettleCheckoutDeps, session: Stripe.Checkout.Session): Promise<void> => {
  const { database } = deps;
  const { id: providerSessionId, client_reference_id: id } = session;
  if (id == null) return;
  if ((await findCheckoutSession(database, id)) === undefined && !(await restoreSession(deps, id, session))) return;
  await updateProviderSession(database, id, providerSessionId);
  const stored = await findCheckoutSession(database, id);
  if (stored?.providerSessionId !== providerSessionId || stored.status === 'complete') return;
  const settled = await settleCheckout(deps, stored);
  if (settled === 'complete' && session.payment_intent != null) {
    await refreshReversals(deps, idOf(session.payment_intent));
  }
};

/** Credits the payment of an automatic charge. Recreates its row if this database does not have it. */
export const settleCharge = async (deps: SettleCheckoutDeps, payment: Stripe.PaymentIntent): Promise<void> => {
  const { database } = deps;
  const id = payment.metadata?.[CHARGE_KEY];
  if (id === undefined || !(await restoreCharge(deps, id, payment))) return;
  await updateProviderSession(database, id, payment.id);
  const session = await findCheckoutSession(database, id);
  if (session === undefined || session.status === 'complete') return;
  if ((await settleCheckout(deps, session)) === 'complete') await refreshReversals(deps, payment.id);
};

/** Recreates the row of a charge. Returns false if the payment is not ours, or took no money and was forgotten. */
const restoreCharge = async (
  { database }: SettleCheckoutDeps,
  id: string,
  payment: Stripe.PaymentIntent,
): Promise<boolean> => {
  if ((await findCheckoutSession(database, id)) !== undefined) return true;
  const userId = payment.metadata['svc_user_id'];
  const paid = toPayment(payment.amount, payment.currency);
  const isPaid = payment.status === 'succeeded' || payment.status === 'processing';
  if (userId === undefined || paid === null || !isPaid) return false;
  await insertCheckoutSession(database, {
    id,
    userId,
    kind: 'top_up',
    planId: null,
    amountMicros: paid.amountMicros,
    asked: paid,
    isAutomatic: true,
    // The payment of a charge is looked for from this time on.
    startedAt: new Date(payment.created * 1000),
  });
  if (payment.customer != null) await insertCustomer(database, userId, idOf(payment.customer));
  return true;
};

/** Recreates the lost rows of a session and its customer. Returns false if the metadata is not ours. */
const restoreSession = async (
  { database }: SettleCheckoutDeps,
  id: string,
  session: Stripe.Checkout.Session,
): Promise<boolean> => {
  const metadata = sessionMetadataSchema.safeParse(session.metadata);
  if (!metadata.success) return false;
  const { svc_user_id: userId, asked_micros: amountMicros, asked_currency: currency, ...bought } = metadata.data;
  const isTopUp = session.mode === 'payment';
  await insertCheckoutSession(database, {
    id,
    userId,
    kind: isTopUp ? 'top_up' : bought.quantity === undefined ? 'subscription' : 'seats',
    planId: bought.plan_id ?? null,
    quantity: bought.quantity ?? null,
    amountMicros: isTopUp ? amountMicros : null,
    asked: { amountMicros, currency },
  });
  if (session.customer != null) await insertCustomer(database, userId, idOf(session.customer));
  return true;
};
