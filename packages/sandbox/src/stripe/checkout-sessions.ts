import type { SandboxCard } from '@svc/contracts';
import type { Account } from './account.ts';
import { Refusal } from './account.ts';
import { saveCard } from './cards.ts';
import { toDate, toMicros, toPrice } from './catalog.ts';
import type { HostedSession } from './hosted-session.ts';
import { writeInvoice } from './invoices.ts';
import type { Fields, Session, Subscription } from './objects.ts';
import { receivePayment, restOf } from './payments.ts';
import { startSubscription, toHosted } from './subscriptions.ts';

const EXPIRES_AFTER_SECONDS = 24 * 3600;

interface LineItem {
  readonly price?: string;
  readonly quantity?: string;
  readonly price_data?: { readonly unit_amount?: string; readonly currency?: string };
}

/** Creates a checkout session for the first line of a request. Throws Refusal for an unknown price. */
export const makeSession = (account: Account, params: Fields): Session => {
  const { objects, publicBaseUrl } = account;
  // Parsed from a form: lines have the members that the request names.
  const [line] = (Array.isArray(params['line_items']) ? params['line_items'] : []) as LineItem[];
  const { amount, currency, price } = priceOf(account, line);
  const session = objects.put('checkout.session', 'cs_test', {
    status: 'open',
    payment_status: 'unpaid',
    mode: params['mode'],
    customer: params['customer'],
    client_reference_id: params['client_reference_id'] ?? null,
    subscription: null,
    payment_intent: null,
    price: line?.price ?? null,
    quantity: quantityOf(line),
    amount_subtotal: amount,
    amount_total: amount,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    currency,
    locale: params['locale'] ?? null,
    success_url: params['success_url'],
    cancel_url: params['cancel_url'],
    expires_at: objects.nowSeconds() + EXPIRES_AFTER_SECONDS,
    discounts: [],
    metadata: params['metadata'] ?? {},
    subscription_metadata: Object(params['subscription_data'])['metadata'] ?? {},
    sandbox: { price, promotion_code: null, is_challenged: false, failure: null },
  });
  const url = `${publicBaseUrl}/sandbox/payments/sessions/${session.client_reference_id ?? session.id}`;
  objects.update(session.id, { url });
  return { ...session, url };
};

const priceOf = ({ catalog }: Account, line: LineItem | undefined) => {
  if (line?.price === undefined) {
    return { amount: Number(line?.price_data?.unit_amount), currency: line?.price_data?.currency, price: null };
  }
  const plan = catalog.findByPrice(line.price);
  if (plan === undefined) throw new Refusal('resource_missing', 'line_items[0][price]');
  const price = toPrice(plan);
  const { unit_amount: amount, currency } = price;
  return { amount: Number(amount) * quantityOf(line), currency, price };
};

const quantityOf = (line: LineItem | undefined): number => Number(line?.quantity ?? 1);

/** Finds a session by its id at Stripe or at the merchant. One whose time is over has expired. */
export const findSession = (account: Account, id: string): Session | undefined => {
  const { objects, raise } = account;
  const session =
    objects.of('checkout.session', id) ??
    objects.list('checkout.session').find(({ client_reference_id }) => client_reference_id === id);
  if (session?.status !== 'open' || session.expires_at > objects.nowSeconds()) return session;
  objects.update(session.id, { status: 'expired' });
  raise('checkout.session.expired', objects.get(session.id));
  return objects.of('checkout.session', session.id);
};

/** Pays an open session as its customer would. Starts the subscription, if it is for one. */
export const paySession = (account: Account, session: Session, { card, at }: { card: SandboxCard; at: Date }): void => {
  const { objects, catalog, raise } = account;
  const { id, customer, amount_total: amount, currency } = session;
  const payment = amount === 0 ? undefined : receivePayment(account, { customer, amount, currency });
  const paidMicros = toMicros(amount, currency);
  const subscription =
    session.mode === 'subscription' ? startSubscription(account, session, { card, paidMicros, at }) : undefined;
  if (subscription === undefined) saveCard(objects, customer, card);
  const hosted = subscription && toHosted(account, subscription);
  const invoice = writeInvoice(account, {
    customer,
    amountMicros: paidMicros,
    currency,
    issuedAt: at,
    paymentIntent: payment?.id ?? null,
    planName: hosted === undefined ? null : (catalog.find(hosted.planId)?.name ?? hosted.planId),
    subscription: subscription?.id ?? null,
    period: hosted === undefined ? null : { start: hosted.periodStart, end: hosted.periodEnd },
  });
  objects.update(id, {
    status: 'complete',
    payment_status: payment === undefined ? 'no_payment_required' : 'paid',
    subscription: subscription?.id ?? null,
    payment_intent: session.mode === 'payment' ? (payment?.id ?? null) : null,
    invoice: invoice.id,
  });
  raise('checkout.session.completed', objects.get(id));
};

/** Returns true if the merchant ended the subscription of a session and refunded its payment. */
export const isReverted = (account: Account, { subscription: id }: Session): boolean => {
  const { objects } = account;
  const subscription = id === null ? undefined : objects.of('subscription', id);
  return subscription?.status === 'canceled' && isRefunded(account, subscription);
};

const isRefunded = (account: Account, { latest_invoice: id }: Subscription): boolean => {
  const payments = (id === null ? undefined : account.objects.of('invoice', id))?.payments.data ?? [];
  return payments.every(({ payment }) => {
    const intent = account.objects.of('payment_intent', payment.payment_intent);
    return intent !== undefined && restOf(account, intent) === 0;
  });
};

const withQuantity = (name: string, quantity: number): string => (quantity === 1 ? name : `${quantity} × ${name}`);

/** Reads a session as its page shows it. */
export const toHostedSession = ({ catalog }: Account, session: Session): HostedSession => {
  const { sandbox, currency } = session;
  const plan = session.price === null ? undefined : catalog.findByPrice(session.price);
  return {
    id: session.client_reference_id ?? session.id,
    customer: session.customer,
    description: withQuantity(plan?.name ?? session.price ?? '', session.quantity ?? 1),
    planId: plan?.id ?? null,
    interval: plan?.price.interval ?? null,
    amountMicros: toMicros(session.amount_subtotal, currency),
    currency: currency.toUpperCase(),
    promotionCode: sandbox.promotion_code,
    discountMicros: toMicros(session.total_details.amount_discount, currency),
    successUrl: session.success_url,
    cancelUrl: session.cancel_url,
    expiresAt: toDate(session.expires_at),
    status: session.status,
    subscriptionId: session.subscription,
    isChallenged: sandbox.is_challenged,
    failure: sandbox.failure,
  };
};
