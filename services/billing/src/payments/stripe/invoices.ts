import type { Invoice } from '@svc/contracts';
import type { Stripe } from 'stripe';
import { z } from 'zod';
import { CHARGE_KEY, type SavedCharge, secondsBefore } from './charges.ts';
import { findCustomer, findCustomerId, localeOf, TOP_UP_NAMES } from './customers.ts';
import { toMinorUnits, toPayment } from './minor-units.ts';
import { askForOne, askStripe, idOf, keySince, type StripeDeps } from './stripe-client.ts';

/** A page of an account's invoices to list. `after` is the last id of the previous page. */
interface InvoicePage {
  readonly userId: string;
  readonly after: string | undefined;
  readonly limit: number;
}

/** Pages in a row without an invoice to show. Drafts are few, and soon finalized. */
const PAGES_MAX = 100;
/** Invoices of one customer since the start of a charge. */
const INVOICES_MAX = 1_000;

const statusSchema = z.enum(['open', 'paid', 'uncollectible', 'void']);

/**
 * Lists a page of a customer's invoices, newest first. Leaves out drafts, which have no number, and amounts in an unknown
 * currency. A page that is empty is the last: the id of its last invoice leads to the next one.
 */
export const listInvoices = async (
  { database, stripe }: StripeDeps,
  { userId, after, limit }: InvoicePage,
): Promise<{ data: Invoice[]; has_more: boolean }> => {
  const customer = await findCustomerId(database, userId);
  let last = after;
  for (let pages = 0; customer !== undefined && pages < PAGES_MAX; pages += 1) {
    const query = { customer, limit, ...(last === undefined ? {} : { starting_after: last }) };
    const page = await askForOne(() => stripe.invoices.list(query));
    const data = page?.data.flatMap(toInvoice) ?? [];
    const has_more = page?.has_more ?? false;
    if (data.length > 0 || !has_more) return { data, has_more };
    last = page?.data.at(-1)?.id;
  }
  return { data: [], has_more: false };
};

const toInvoice = (invoice: Stripe.Invoice): Invoice[] => {
  const { id, number, currency, created, effective_at: effectiveAt } = invoice;
  const status = statusSchema.safeParse(invoice.status);
  const total = toPayment(invoice.total, currency);
  const net = toPayment(invoice.total_excluding_tax, currency) ?? total;
  if (!status.success || number == null || total === null || net === null) return [];
  return [
    {
      id,
      number,
      description: invoice.description ?? invoice.lines?.data[0]?.description ?? '',
      net_micros: net.amountMicros,
      tax_micros: total.amountMicros - net.amountMicros,
      total_micros: total.amountMicros,
      currency: total.currency,
      status: status.data,
      issued_at: new Date((effectiveAt ?? created) * 1000).toISOString(),
      url: invoice.hosted_invoice_url ?? null,
      pdf_url: invoice.invoice_pdf ?? null,
    },
  ];
};

/**
 * Creates the invoice of a charge and attaches its payment, once per charge. Every step may be repeated. Returns false if
 * the customer who paid is gone, because Stripe writes no invoice without them, and attaches no payment of another.
 */
export const invoiceCharge = async (
  deps: StripeDeps,
  charge: SavedCharge & { readonly providerSessionId: string },
): Promise<boolean> => {
  const { stripe } = deps;
  const { chargeId } = charge;
  const customer = await findCustomer(deps, charge.userId);
  const payment = await askForOne(() => stripe.paymentIntents.retrieve(charge.providerSessionId));
  if (customer === undefined || payment?.customer == null || idOf(payment.customer) !== customer.id) return false;
  const lookedAt = deps.clock();
  let invoice =
    (await findInvoice(deps, customer, charge)) ?? (await createInvoice(deps, customer, { ...charge, lookedAt }));
  if (invoice.status === 'draft') {
    const { id, lines, description } = invoice;
    if (lines.data.length === 0) await addItem(deps, customer.id, { ...charge, invoiceId: id, description, lookedAt });
    invoice = await askStripe(() =>
      stripe.invoices.finalizeInvoice(id, { auto_advance: false }, { idempotencyKey: `finalize-${chargeId}` }),
    );
  }
  if (invoice.status !== 'open') return true;
  await askStripe(() =>
    stripe.invoices.attachPayment(
      invoice.id,
      { payment_intent: charge.providerSessionId },
      { idempotencyKey: `attach-${chargeId}` },
    ),
  );
  return true;
};

/** Finds the invoice of a charge. An idempotency key expires after a day, the list of invoices does not. */
const findInvoice = async (
  { stripe }: StripeDeps,
  { id: customer }: Stripe.Customer,
  { chargeId, startedAt }: SavedCharge,
): Promise<Stripe.Invoice | undefined> => {
  const query = { customer, created: { gte: secondsBefore(startedAt) }, limit: 100 };
  const invoices = await askStripe(() => stripe.invoices.list(query).autoPagingToArray({ limit: INVOICES_MAX }));
  return invoices.find(({ metadata }) => metadata?.[CHARGE_KEY] === chargeId);
};

const createInvoice = (
  { stripe }: StripeDeps,
  customer: Stripe.Customer,
  { chargeId, currency, lookedAt }: SavedCharge & { readonly lookedAt: Date },
) =>
  askStripe(() =>
    stripe.invoices.create(
      {
        customer: customer.id,
        currency: currency.toLowerCase(),
        collection_method: 'charge_automatically',
        auto_advance: false,
        pending_invoice_items_behavior: 'exclude',
        automatic_tax: { enabled: true },
        description: TOP_UP_NAMES.automatic[localeOf(customer)],
        metadata: { [CHARGE_KEY]: chargeId },
      },
      { idempotencyKey: keySince(`invoice-${chargeId}`, lookedAt) },
    ),
  );

const addItem = (
  { stripe }: StripeDeps,
  customer: string,
  {
    chargeId,
    invoiceId,
    amountMicros,
    currency,
    description,
    lookedAt,
  }: SavedCharge & { readonly invoiceId: string; readonly description: string | null; readonly lookedAt: Date },
) =>
  askStripe(() =>
    stripe.invoiceItems.create(
      {
        customer,
        invoice: invoiceId,
        currency: currency.toLowerCase(),
        amount: toMinorUnits({ amountMicros, currency }),
        tax_behavior: 'inclusive',
        description: description ?? TOP_UP_NAMES.automatic.en,
      },
      { idempotencyKey: keySince(`invoice-item-${chargeId}`, lookedAt) },
    ),
  );
