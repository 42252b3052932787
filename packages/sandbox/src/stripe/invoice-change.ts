import type { Account } from './account.ts';
import { toMicros, toMinor } from './catalog.ts';
import { type HostedSubscription, isOverdue, type Price, useCredit } from './hosted-subscription.ts';
import { writeInvoice } from './invoices.ts';
import { receivePayment } from './payments.ts';
import { saveHosted } from './subscriptions.ts';

/** Returns the price of a subscription: that of its plan, as often as it is paid. A plan that is no longer on offer keeps the price of its purchase. */
export const findPrice = (
  { catalog, objects }: Account,
  { id, planId, quantity }: HostedSubscription,
): Price | undefined => {
  const price = catalog.find(planId)?.price;
  if (price !== undefined) return { amountMicros: price.amount_micros * quantity, currency: price.currency };
  const bought = objects.list('checkout.session').find(({ subscription }) => subscription === id);
  const [item] = objects.of('subscription', id)?.items.data ?? [];
  const amount = item?.price['unit_amount'];
  return bought === undefined || typeof amount !== 'number'
    ? undefined
    : { amountMicros: toMicros(amount, bought.currency) * quantity, currency: bought.currency.toUpperCase() };
};

/** Stores a changed subscription. If the change is a payment, of a new period or of an overdue one, invoices it. */
export const saveChange = (
  account: Account,
  { before, after, at }: { readonly before: HostedSubscription; readonly after: HostedSubscription; readonly at: Date },
): void => {
  const price = isPayment(before, after) ? findPrice(account, after) : undefined;
  if (price === undefined) {
    saveHosted(account, after);
    if (after.failedAttempts > before.failedAttempts) raiseFailure(account, after);
    return;
  }
  const { dueMicros, creditMicros } = useCredit(price.amountMicros, after.creditMicros);
  const paid = { ...after, creditMicros, paidMicros: price.amountMicros };
  saveHosted(account, paid);
  invoiceSubscription(account, paid, { ...price, amountMicros: dueMicros, start: paid.periodStart, at });
};

/** Writes the invoice of a subscription's payment. */
export const invoiceSubscription = (
  account: Account,
  { id, customer, planId, periodEnd }: HostedSubscription,
  { amountMicros, currency, start, at }: Price & { readonly start: Date; readonly at: Date },
): void => {
  const amount = toMinor(amountMicros, currency);
  const payment =
    amount === 0 ? undefined : receivePayment(account, { customer, amount, currency: currency.toLowerCase() });
  writeInvoice(account, {
    customer,
    amountMicros,
    currency,
    issuedAt: at,
    paymentIntent: payment?.id ?? null,
    planName: account.catalog.find(planId)?.name ?? planId,
    subscription: id,
    period: { start, end: periodEnd },
  });
};

const isPayment = (before: HostedSubscription, after: HostedSubscription): boolean =>
  after.status === 'active' &&
  (isOverdue(before) || before.status === 'trialing' || after.periodStart.getTime() !== before.periodStart.getTime());

/** Raises the event of a failed payment. Its invoice is not listed. */
const raiseFailure = ({ objects, raise }: Account, { id }: HostedSubscription): void =>
  raise('invoice.payment_failed', {
    id: objects.newId('in'),
    object: 'invoice',
    parent: { type: 'subscription_details', subscription_details: { subscription: id } },
  });
