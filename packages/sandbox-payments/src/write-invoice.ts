import type { Knex } from 'knex';
import { type SandboxInvoice, taxOf } from './invoice.ts';
import { findBusiness, insertInvoice, nextInvoiceNumber } from './invoice-queries.ts';
import type { PlanOffer } from './plan-offer.ts';
import { isOverdue, type SandboxSubscription } from './sandbox-subscription.ts';
import { findPriceOfSubscription } from './session-queries.ts';

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

/** Writes an invoice if the change of a subscription is a payment: of a new period, or of an overdue one. */
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
  const plan = deps.offer.find(after.planId);
  // A plan that is no longer on offer keeps the price of its purchase.
  const price =
    plan === undefined
      ? await findPriceOfSubscription(trx, after.id)
      : { amountMicros: plan.price.amount_micros, currency: plan.price.currency };
  if (price === undefined) return;
  await writeInvoice(deps, trx, {
    customer: after.customer,
    kind: 'subscription',
    planName: plan?.name ?? after.planId,
    subscriptionId: after.id,
    periodStart: after.periodStart,
    periodEnd: after.periodEnd,
    totalMicros: price.amountMicros,
    currency: price.currency,
    issuedAt: at,
  });
};
