import type { ConfiguredPlan, Locale } from '@svc/contracts';
import type { Knex } from 'knex';
import { deleteSavedCard, findSavedCard } from './charge-queries.ts';
import { chargeSavedCard } from './charge-saved-card.ts';
import type { SandboxInvoice } from './invoice.ts';
import { hasInvoice, listInvoices, voidInvoices } from './invoice-queries.ts';
import { textsOf } from './pages/page-language.ts';
import { insertPortal } from './portal-queries.ts';
import { readClock } from './read-clock.ts';
import { dueToday, type NewSession } from './sandbox-session.ts';
import { clockOf, ended, isFinal, type SandboxSubscription } from './sandbox-subscription.ts';
import { findSession, findSessionOfSubscription, insertSession } from './session-queries.ts';
import { findSubscription, lockSubscription, saveSubscription } from './subscription-queries.ts';
import { writeInvoice } from './write-invoice.ts';

export interface SandboxProviderDeps {
  readonly database: Knex;
  readonly publicBaseUrl: string;
  readonly newId: (prefix: 'cs' | 'inv') => string;
}

/** A checkout to host. */
interface Order {
  readonly sessionId: string;
  readonly userId: string;
  readonly purchase:
    | { readonly kind: 'subscription'; readonly plan: ConfiguredPlan }
    | { readonly kind: 'top_up'; readonly amountMicros: number; readonly currency: string };
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
}

/** A charge without the customer. */
interface Charge {
  readonly chargeId: string;
  readonly userId: string;
  readonly amountMicros: number;
  readonly currency: string;
}

interface InvoicePage {
  readonly userId: string;
  readonly after: string | undefined;
  readonly limit: number;
  readonly locale?: Locale | undefined;
}

/**
 * Creates a payment provider that takes no money and hosts its own pages. It fits the provider interface of its host by
 * structure, so the package depends on no service.
 */
export const createSandboxPaymentProvider = ({ database, publicBaseUrl, newId }: SandboxProviderDeps) => ({
  name: 'sandbox' as const,
  topUps: { minMicros: 1, stepMicros: 1 },
  async createCheckout(order: Order) {
    await insertSession(database, toSession(order));
    return {
      providerSessionId: order.sessionId,
      url: `${publicBaseUrl}/sandbox/payments/sessions/${order.sessionId}`,
    };
  },
  readCheckout: (id: string) => readCheckout(database, id),
  async readSubscription(id: string) {
    const subscription = await findSubscription(database, id);
    if (subscription === undefined) return undefined;
    return { ...describe(subscription), sessionId: (await findSessionOfSubscription(database, id)) ?? null };
  },
  async revertSubscription(id: string): Promise<void> {
    await database.transaction(async (trx) => {
      const subscription = await lockSubscription(trx, id);
      if (subscription === undefined || isFinal(subscription.status)) return;
      const endedAt = await readClock(trx);
      await saveSubscription(trx, { ...ended(subscription, 'canceled', endedAt), wasReverted: true });
      await voidInvoices(trx, id);
    });
  },
  async setCancelAtPeriodEnd(id: string, cancelAtPeriodEnd: boolean): Promise<void> {
    await database.transaction(async (trx) => {
      const subscription = await lockSubscription(trx, id);
      if (subscription === undefined || isFinal(subscription.status)) return;
      await saveSubscription(trx, { ...subscription, cancelAtPeriodEnd });
    });
  },
  async endSubscription(id: string): Promise<void> {
    await database.transaction(async (trx) => {
      const subscription = await lockSubscription(trx, id);
      if (subscription === undefined || isFinal(subscription.status)) return;
      await saveSubscription(trx, ended(subscription, 'canceled', clockOf(subscription, await readClock(trx))));
    });
  },
  forgetCustomer: (userId: string) => deleteSavedCard(database, userId),
  // The sandbox took no money, so there is none to return.
  refundPayment: async () => 'refunded' as const,
  hasPaymentMethod: async (userId: string) => (await findSavedCard(database, userId)) !== undefined,
  // The sandbox writes invoices in the language of their reader.
  preferLocale: async () => undefined,
  chargeSaved: (charge: Charge) => chargeSaved(database, charge),
  async invoiceCharge({ chargeId, userId, amountMicros, currency }: Charge): Promise<void> {
    await database.transaction(async (trx) => {
      if (await hasInvoice(trx, chargeId)) return;
      const paid = { customer: userId, totalMicros: amountMicros, currency, issuedAt: await readClock(trx) };
      await writeInvoice({ newId }, trx, { ...paid, kind: 'automatic_top_up', chargeId });
    });
  },
  async listInvoices({ userId, after, limit, locale }: InvoicePage) {
    // One extra row shows if there is another page.
    const invoices = await listInvoices(database, { customer: userId, after, limit: limit + 1 });
    return {
      data: invoices.slice(0, limit).map((invoice) => describeInvoice(invoice, { publicBaseUrl, locale })),
      hasMore: invoices.length > limit,
    };
  },
  async createPortal({ userId, returnUrl }: { readonly userId: string; readonly returnUrl: string }) {
    const id = newId('cs').replace(/^cs/, 'portal');
    await insertPortal(database, { id, customer: userId, returnUrl });
    return { url: `${publicBaseUrl}/sandbox/payments/portal/${id}` };
  },
});

export type SandboxPaymentProvider = ReturnType<typeof createSandboxPaymentProvider>;

const toSession = ({ sessionId, userId, purchase, successUrl, cancelUrl, expiresAt }: Order): NewSession => {
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

const describeInvoice = (
  invoice: SandboxInvoice,
  { publicBaseUrl, locale }: { readonly publicBaseUrl: string; readonly locale: Locale | undefined },
) => {
  const { id, number, kind, planName, totalMicros, taxMicros, currency, status, issuedAt } = invoice;
  const url = `${publicBaseUrl}/sandbox/payments/invoices/${id}`;
  const amounts = { netMicros: totalMicros - taxMicros, taxMicros, totalMicros, currency };
  const description = textsOf(locale ?? 'en').invoice.items[kind](planName ?? '');
  const query = locale === undefined ? '' : `?locale=${locale}`;
  return { id, number, description, ...amounts, status, issuedAt, url: `${url}${query}`, pdfUrl: `${url}/pdf${query}` };
};

const chargeSaved = async (database: Knex, { chargeId, userId, amountMicros, currency }: Charge) => {
  const status = await chargeSavedCard(database, { id: chargeId, customer: userId, amountMicros, currency });
  return status === 'paid'
    ? { status: 'complete' as const, providerSessionId: chargeId, paid: { amountMicros, currency }, subscription: null }
    : { status: 'failed' as const, reason: status };
};

const readCheckout = async (database: Knex, id: string) => {
  const session = await findSession(database, id);
  if (session === undefined) return undefined;
  const { status, subscriptionId, discountMicros, currency } = session;
  if (status !== 'complete') return { status };
  const subscription = subscriptionId === null ? undefined : await findSubscription(database, subscriptionId);
  return {
    status,
    paid: { amountMicros: dueToday(session), currency },
    discountMicros,
    subscription: subscription === undefined ? null : describe(subscription),
  };
};

const describe = (subscription: SandboxSubscription) => ({
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
