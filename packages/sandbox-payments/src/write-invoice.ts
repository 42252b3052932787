import type { Knex } from 'knex';
import { type SandboxInvoice, taxOf } from './invoice.ts';
import { findBusiness, insertInvoice, nextInvoiceNumber } from './invoice-queries.ts';
import type { Price } from './plan-change.ts';
import { useCredit } from './plan-change.ts';
import type { PlanOffer } from './plan-offer.ts';
import { isOverdue, type SandboxSubscription } from './sandbox-subscription.ts';
import { findPriceOfSubscription } from './session-queries.ts';
import { updateCredit } from './subscription-queries.ts';

export interface InvoiceDeps {
  readonly newId: (prefix: 'inv') => string;
}

type Paid = Pick<SandboxInvoice, 'customer' | 'kind' | 'totalMicros' | 'currency' | 'issuedAt'> &
  Partial<Pick<SandboxInvoice, 'planName' | 'subscriptionId' | 'chargeId' | 'periodStart' | 'periodEnd'>>;

/** Writes the invoice of a payment, in the transaction that records the payment. */
export const writeInvoice = async ({ newId }: InvoiceDeps, trx: Knex.Transaction, paid: Paid): Promise<void> => {
  const business = await findBusiness(trx, paid.customer);
  const year = paid.issuedAt.getUTCFullYear();
  const place = String(await nextInvoiceNumber(trx, year)).padStart(6, '0');
  await insertInvoice(trx, {
    planName: null,
    subscriptionId: null,
    chargeId: null,
    periodStart: null,
    periodEnd: null,
    ...paid,
    ...business,
    ...taxOf(paid.totalMicros, business.vatNumber),
    id: newId('inv'),
    number: `SANDBOX-${year}-${place}`,
    status: 'paid',
  });
};

/** Returns the price of a subscription's plan. A plan that is no longer on offer keeps the price of its purchase. */
export const findPrice = async (
  { offer }: { readonly offer: PlanOffer },
  database: Knex,
  { id, planId }: SandboxSubscription,
): Promise<Price | undefined> => {
  const price = offer.find(planId)?.price;
  return price === undefined
    ? findPriceOfSubscription(database, id)
    : { amountMicros: price.amount_micros, currency: price.currency };
};

/**
 * Writes an invoice if the change of a subscription is a payment: of a new period, or of an overdue one. Takes the credit
 * off it.
 */
export const invoiceChange = async (
  deps: InvoiceDeps & { readonly offer: PlanOffer },
  trx: Knex.Transaction,
  {
    before,
    after,
    at,
  }: { readonly before: SandboxSubscription; readonly after: SandboxSubscription; readonly at: Date },
): Promise<void> => {
  const isPayment =
    after.status === 'active' &&
    (isOverdue(before) || before.status === 'trialing' || after.periodStart.getTime() !== before.periodStart.getTime());
  if (!isPayment) return;
  const price = await findPrice(deps, trx, after);
  if (price === undefined) return;
  const { dueMicros, creditMicros } = useCredit(price.amountMicros, after.creditMicros);
  if (creditMicros !== after.creditMicros) await updateCredit(trx, after.id, creditMicros);
  await invoiceSubscription(deps, trx, after, {
    totalMicros: dueMicros,
    currency: price.currency,
    periodStart: after.periodStart,
    issuedAt: at,
  });
};

/** Writes the invoice of a subscription's payment. */
export const invoiceSubscription = (
  deps: InvoiceDeps & { readonly offer: PlanOffer },
  trx: Knex.Transaction,
  { id, customer, planId, periodEnd }: SandboxSubscription,
  payment: Pick<Paid, 'totalMicros' | 'currency' | 'issuedAt'> & { readonly periodStart: Date },
): Promise<void> =>
  writeInvoice(deps, trx, {
    customer,
    kind: 'subscription',
    planName: deps.offer.find(planId)?.name ?? planId,
    subscriptionId: id,
    periodEnd,
    ...payment,
  });
