import type { Stripe } from 'stripe';
import { z } from 'zod';
import {
  findCheckoutSession,
  insertCheckoutSession,
  refreshSubscription,
  type SettleCheckoutDeps,
  settleCheckout,
  updateProviderSession,
} from '../index.ts';
import { CHARGE_KEY } from './charges.ts';
import { idOf } from './id-of.ts';
import { MICROS_PER_MINOR_UNIT } from './minor-units.ts';
import { insertCustomer } from './queries.ts';
import { DELIVERY_SECONDS_MAX, HANDLED_EVENTS, handleEvent, type StripeListener } from './receive-event.ts';

export interface ReconcileDeps extends SettleCheckoutDeps {
  readonly stripe: Stripe;
  readonly listener: StripeListener;
}

const PAGE = 100;
/** Maximum age of a checkout that was open at the restored moment. */
const CHECKOUT_SECONDS = 24 * 3600;

/** Metadata written by `createCheckout`. */
const sessionMetadataSchema = z.object({
  svc_user_id: z.string().min(1),
  asked_micros: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
  asked_currency: z.string().length(3),
  plan_id: z.string().min(1).optional(),
});

/**
 * Reconciles with Stripe after the database was restored to an earlier moment. Settles every session paid since, and
 * refreshes every subscription created or changed since. Recreates lost rows from Stripe's metadata. Idempotent.
 * Returns the number of objects.
 */
export const reconcileWithStripe = async (deps: ReconcileDeps, since: Date): Promise<number> => {
  const { stripe } = deps;
  const seconds = Math.floor(since.getTime() / 1000);
  let count = 0;
  const sessions = { created: { gte: seconds - CHECKOUT_SECONDS }, status: 'complete', limit: PAGE } as const;
  for await (const session of stripe.checkout.sessions.list(sessions)) {
    await settleSession(deps, session);
    count += 1;
  }
  for await (const payment of stripe.paymentIntents.list({ created: { gte: seconds }, limit: PAGE })) {
    if (payment.status !== 'succeeded' || payment.metadata[CHARGE_KEY] === undefined) continue;
    await settleCharge(deps, payment, payment.metadata[CHARGE_KEY]);
    count += 1;
  }
  const made = { created: { gte: seconds }, status: 'all', limit: PAGE } as const;
  for await (const { id } of stripe.subscriptions.list(made)) {
    await refreshSubscription(deps, id);
    count += 1;
  }
  // Older objects that changed since. An event from before may have been delivered since. Stripe keeps events for 30 days.
  const events = { created: { gte: seconds - DELIVERY_SECONDS_MAX }, types: [...HANDLED_EVENTS], limit: PAGE };
  for await (const event of stripe.events.list(events)) {
    await handleEvent(deps.listener, event);
    count += 1;
  }
  return count;
};

/** Settles a Stripe session. Ignores sessions without our metadata, which belong to other products. */
const settleSession = async (deps: ReconcileDeps, session: Stripe.Checkout.Session): Promise<void> => {
  const { database } = deps;
  const { id: providerSessionId, client_reference_id: id } = session;
  if (id === null) return;
  if ((await findCheckoutSession(database, id)) === undefined && !(await restoreSession(deps, id, session))) return;
  await updateProviderSession(database, id, providerSessionId);
  const stored = await findCheckoutSession(database, id);
  if (stored?.providerSessionId === providerSessionId) await settleCheckout(deps, stored);
};

/** Credits an automatic charge. Recreates its row if the restore has lost it. */
const settleCharge = async (deps: ReconcileDeps, payment: Stripe.PaymentIntent, id: string): Promise<void> => {
  const { database, provider } = deps;
  const userId = payment.metadata['svc_user_id'];
  if (userId === undefined) return;
  if ((await findCheckoutSession(database, id)) === undefined) {
    const amountMicros = payment.amount * MICROS_PER_MINOR_UNIT;
    await insertCheckoutSession(database, {
      id,
      userId,
      kind: 'top_up',
      planId: null,
      amountMicros,
      asked: { amountMicros, currency: payment.currency.toUpperCase() },
      provider: provider.name,
      isAutomatic: true,
      // The payment of a charge is looked for from this time on.
      startedAt: new Date(payment.created * 1000),
    });
    if (payment.customer !== null) await insertCustomer(database, userId, idOf(payment.customer));
  }
  const session = await findCheckoutSession(database, id);
  if (session !== undefined) await settleCheckout(deps, session);
};

/** Recreates the lost rows of a session and its customer. Returns false if the metadata is not ours. */
const restoreSession = async (
  { database, provider }: ReconcileDeps,
  id: string,
  session: Stripe.Checkout.Session,
): Promise<boolean> => {
  const metadata = sessionMetadataSchema.safeParse(session.metadata);
  if (!metadata.success) return false;
  const { svc_user_id: userId, asked_micros: amountMicros, asked_currency: currency, plan_id: planId } = metadata.data;
  const isTopUp = session.mode === 'payment';
  await insertCheckoutSession(database, {
    id,
    userId,
    kind: isTopUp ? 'top_up' : 'subscription',
    planId: planId ?? null,
    amountMicros: isTopUp ? amountMicros : null,
    asked: { amountMicros, currency },
    provider: provider.name,
  });
  if (session.customer !== null) await insertCustomer(database, userId, idOf(session.customer));
  return true;
};
