import { inTransaction } from '@svc/database';
import type { Knex } from 'knex';
import type { ProviderSubscription } from '../../subscriptions/index.ts';
import type { CheckoutOrder, PaymentProvider } from '../index.ts';
import {
  findSession,
  findSessionOfSubscription,
  findSubscription,
  insertPortal,
  insertSession,
  lockSubscription,
  readNow,
  saveSubscription,
} from './queries.ts';
import { ended, isFinal, type SandboxSubscription } from './sandbox-records.ts';

/** What the sandbox provider works with. */
export interface SandboxProviderDeps {
  readonly database: Knex;
  readonly publicBaseUrl: string;
  readonly newPortalId: () => string;
}

/** Makes the payment provider that takes no money and hosts its own pages. */
export const createSandboxProvider = ({
  database,
  publicBaseUrl,
  newPortalId,
}: SandboxProviderDeps): PaymentProvider => ({
  name: 'sandbox',
  topUps: { minMicros: 1, stepMicros: 1 },
  async createCheckout(order) {
    await insertSession(database, toSession(order));
    return {
      providerSessionId: order.sessionId,
      url: `${publicBaseUrl}/sandbox/payments/sessions/${order.sessionId}`,
    };
  },
  async readCheckout(id) {
    const session = await findSession(database, id);
    if (session === undefined) return undefined;
    if (session.status !== 'complete') return { status: session.status };
    const subscription =
      session.subscriptionId === null ? undefined : await findSubscription(database, session.subscriptionId);
    const { amountMicros, currency } = session;
    return {
      status: 'complete',
      paid: { amountMicros, currency },
      subscription: subscription === undefined ? null : describe(subscription),
    };
  },
  async readSubscription(id) {
    const subscription = await findSubscription(database, id);
    if (subscription === undefined) return undefined;
    return { ...describe(subscription), sessionId: (await findSessionOfSubscription(database, id)) ?? null };
  },
  async revertSubscription(id) {
    await inTransaction(database, async (trx) => {
      const subscription = await lockSubscription(trx, id);
      if (subscription === undefined || isFinal(subscription.status)) return;
      const endedAt = await readNow(trx);
      await saveSubscription(trx, { ...ended(subscription, 'canceled', endedAt), wasReverted: true });
    });
  },
  // No money was ever taken.
  refundPayment: async () => 'refunded',
  async createPortal({ userId, returnUrl }) {
    const id = newPortalId();
    await insertPortal(database, { id, customer: userId, returnUrl });
    return { url: `${publicBaseUrl}/sandbox/payments/portal/${id}` };
  },
});

const toSession = ({ sessionId, userId, purchase, successUrl, cancelUrl, expiresAt }: CheckoutOrder) => {
  const common = { id: sessionId, customer: userId, successUrl, cancelUrl, expiresAt };
  if (purchase.kind === 'top_up') {
    const { amountMicros, currency } = purchase;
    return { ...common, description: 'Wallet top-up', planId: null, interval: null, amountMicros, currency };
  }
  const { id, name, price } = purchase.plan;
  return {
    ...common,
    description: name,
    planId: id,
    interval: price.interval,
    amountMicros: price.amount_micros,
    currency: price.currency,
  };
};

const describe = (subscription: SandboxSubscription): ProviderSubscription => ({
  providerSubscriptionId: subscription.id,
  userId: subscription.customer,
  planId: subscription.planId,
  status: subscription.status,
  anchor: subscription.anchor,
  periodStart: subscription.periodStart,
  periodEnd: subscription.periodEnd,
  cancelAtPeriodEnd: subscription.cancelAtPeriodEnd,
  endedAt: subscription.endedAt,
});
