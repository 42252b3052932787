import type { Stripe } from 'stripe';
import { z } from 'zod';
import type { InvoicePage, InvoicesPage, ProviderInvoice, SavedCharge } from '../index.ts';
import { CHARGE_KEY, type ChargeDeps, CLOCK_SKEW_SECONDS } from './charges.ts';
import { findLocale, TOP_UP_NAMES } from './language.ts';
import { MICROS_PER_MINOR_UNIT, toMinorUnits } from './minor-units.ts';
import { findCustomerId } from './queries.ts';
import { askForOne, askStripe } from './stripe-client.ts';

/** Invoices of one customer since the start of a charge. */
const INVOICES_MAX = 100;

const statusSchema = z.enum(['open', 'paid', 'uncollectible', 'void']);

/** Lists a customer's invoices. Leaves out drafts, which have no number. */
export const listInvoices = async (
  { database, stripe }: ChargeDeps,
  { userId, after, limit }: InvoicePage,
): Promise<InvoicesPage> => {
  const customer = await findCustomerId(database, userId);
  if (customer === undefined) return { data: [], hasMore: false };
  const page = await askForOne(() =>
    stripe.invoices.list({ customer, limit, ...(after === undefined ? {} : { starting_after: after }) }),
  );
  return { data: page?.data.flatMap(toInvoice) ?? [], hasMore: page?.has_more ?? false };
};

const toInvoice = (invoice: Stripe.Invoice): ProviderInvoice[] => {
  const { id, number, total, total_excluding_tax: net, currency, created, effective_at: effectiveAt } = invoice;
  const status = statusSchema.safeParse(invoice.status);
  if (!status.success || number === null) return [];
  return [
    {
      id,
      number,
      description: invoice.description ?? invoice.lines.data[0]?.description ?? '',
      netMicros: (net ?? total) * MICROS_PER_MINOR_UNIT,
      taxMicros: (total - (net ?? total)) * MICROS_PER_MINOR_UNIT,
      totalMicros: total * MICROS_PER_MINOR_UNIT,
      currency: currency.toUpperCase(),
      status: status.data,
      issuedAt: new Date((effectiveAt ?? created) * 1000),
      url: invoice.hosted_invoice_url ?? null,
      pdfUrl: invoice.invoice_pdf ?? null,
    },
  ];
};

/** Creates the invoice of a charge and attaches its payment, once per charge. Every step may be repeated. */
export const invoiceCharge = async (
  deps: ChargeDeps,
  charge: SavedCharge & { readonly providerSessionId: string },
): Promise<void> => {
  const { stripe } = deps;
  const { chargeId } = charge;
  const customer = await findCustomerId(deps.database, charge.userId);
  if (customer === undefined) throw new Error('a charge was made without a customer');
  let invoice = (await findInvoice(deps, customer, charge)) ?? (await createInvoice(deps, customer, charge));
  if (invoice.status === 'draft') {
    const { id, lines, description } = invoice;
    if (lines.data.length === 0) await addItem(deps, customer, { ...charge, invoiceId: id, description });
    invoice = await askStripe(() =>
      stripe.invoices.finalizeInvoice(id, { auto_advance: false }, { idempotencyKey: `finalize-${chargeId}` }),
    );
  }
  if (invoice.status !== 'open') return;
  await askStripe(() =>
    stripe.invoices.attachPayment(
      invoice.id,
      { payment_intent: charge.providerSessionId },
      { idempotencyKey: `attach-${chargeId}` },
    ),
  );
};

/** Finds the invoice of a charge. An idempotency key expires after a day, the list of invoices does not. */
const findInvoice = async (
  { stripe }: ChargeDeps,
  customer: string,
  { chargeId, startedAt }: SavedCharge,
): Promise<Stripe.Invoice | undefined> => {
  const since = Math.floor(startedAt.getTime() / 1000) - CLOCK_SKEW_SECONDS;
  const invoices = await askStripe(() =>
    stripe.invoices.list({ customer, created: { gte: since }, limit: INVOICES_MAX }),
  );
  return invoices.data.find(({ metadata }) => metadata?.[CHARGE_KEY] === chargeId);
};

const createInvoice = async ({ stripe }: ChargeDeps, customer: string, { chargeId, currency }: SavedCharge) => {
  const description = TOP_UP_NAMES.automatic[await findLocale(stripe, customer)];
  return await askStripe(() =>
    stripe.invoices.create(
      {
        customer,
        currency: currency.toLowerCase(),
        collection_method: 'charge_automatically',
        auto_advance: false,
        pending_invoice_items_behavior: 'exclude',
        automatic_tax: { enabled: true },
        description,
        metadata: { [CHARGE_KEY]: chargeId },
      },
      { idempotencyKey: `invoice-${chargeId}` },
    ),
  );
};

const addItem = (
  { stripe }: ChargeDeps,
  customer: string,
  {
    chargeId,
    invoiceId,
    amountMicros,
    currency,
    description,
  }: SavedCharge & { readonly invoiceId: string; readonly description: string | null },
) =>
  askStripe(() =>
    stripe.invoiceItems.create(
      {
        customer,
        invoice: invoiceId,
        currency: currency.toLowerCase(),
        amount: toMinorUnits(amountMicros),
        tax_behavior: 'inclusive',
        description: description ?? TOP_UP_NAMES.automatic.en,
      },
      { idempotencyKey: `invoice-item-${chargeId}` },
    ),
  );
