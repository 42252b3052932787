import { toPayable } from '@svc/contracts';
import type { Account } from './account.ts';
import { toDate, toMicros, toMinor, toSeconds } from './catalog.ts';
import { type HostedInvoice, taxOf } from './invoice.ts';
import type { Customer, Fields, Invoice, InvoiceLine } from './objects.ts';
import { type Locale, textsOf } from './pages/page-language.ts';

/** Metadata key by which the merchant marks the invoice of an automatic charge. */
const CHARGE_KEY = 'svc_charge_id';

/** A payment to invoice. The amount includes the tax. */
export interface Paid {
  readonly customer: string;
  readonly amountMicros: number;
  readonly currency: string;
  readonly issuedAt: Date;
  readonly paymentIntent: string | null;
  readonly planName: string | null;
  readonly subscription: string | null;
  readonly period: { readonly start: Date; readonly end: Date } | null;
}

/** Writes the paid invoice of a payment, in the language of its customer. */
export const writeInvoice = (account: Account, paid: Paid): Invoice => {
  const { objects } = account;
  const customer = objects.of('customer', paid.customer);
  const texts = textsOf(localeOf(customer)).invoice.items;
  const description = paid.planName === null ? texts.top_up() : texts.subscription(paid.planName);
  const amount = toMinor(paid.amountMicros, paid.currency);
  const line: InvoiceLine = {
    amount,
    description,
    period: paid.period && { start: toSeconds(paid.period.start), end: toSeconds(paid.period.end) },
    plan_name: paid.planName,
  };
  const issued = toSeconds(paid.issuedAt);
  const { id } = objects.put('invoice', 'in', {
    ...newInvoice(customer, paid),
    ...amountsOf(customer, amount, paid.currency),
    created: issued,
    description,
    lines: { object: 'list', data: [line], has_more: false },
    parent:
      paid.subscription === null
        ? null
        : { type: 'subscription_details', subscription_details: { subscription: paid.subscription } },
  });
  finalize(account, id, issued);
  const invoice = payInvoice(account, id, paid.paymentIntent);
  if (paid.subscription !== null) objects.update(paid.subscription, { latest_invoice: id });
  account.raise('invoice.paid', invoice);
  return invoice;
};

/** Creates the draft of an invoice. */
export const draftInvoice = ({ objects }: Account, params: Fields): Invoice => {
  const customer = objects.of('customer', String(params['customer']));
  return objects.put('invoice', 'in', {
    ...newInvoice(customer, { customer: String(params['customer']), currency: String(params['currency']) }),
    ...amountsOf(customer, 0, String(params['currency'])),
    description: params['description'] ?? null,
    metadata: params['metadata'] ?? {},
  });
};

/** Adds an item to a draft. */
export const addInvoiceItem = ({ objects }: Account, params: Fields): Fields | undefined => {
  const invoice = objects.of('invoice', String(params['invoice']));
  if (invoice === undefined) return undefined;
  const amount = Number(params['amount']);
  const line = { object: 'line_item', amount, description: params['description'], period: null, plan_name: null };
  const customer = objects.of('customer', invoice.customer);
  objects.update(invoice.id, {
    ...amountsOf(customer, invoice.total + amount, invoice.currency),
    lines: { ...invoice.lines, data: [...invoice.lines.data, line] },
  });
  return { id: objects.newId('ii'), object: 'invoiceitem', invoice: invoice.id, amount };
};

/** Finalizes a draft, or attaches the payment of an open invoice. */
export const changeInvoice = (account: Account, id: string, action: string, params: Fields): Fields | undefined => {
  const { objects } = account;
  const invoice = objects.of('invoice', id);
  if (invoice === undefined) return undefined;
  if (action === 'finalize' && invoice.status === 'draft') finalize(account, id, objects.nowSeconds());
  if (action === 'attach_payment' && invoice.status === 'open') {
    account.raise('invoice.paid', payInvoice(account, id, String(params['payment_intent'])));
  }
  return objects.get(id);
};

/** Reads an invoice as its page shows it. */
export const toHostedInvoice = (invoice: Invoice): HostedInvoice | undefined => {
  const { id, number, status, currency, total, total_excluding_tax: net } = invoice;
  if (number === null || status === 'draft') return undefined;
  const [line] = invoice.lines.data;
  const isSubscription = invoice.parent !== null;
  return {
    id,
    number,
    customer: invoice.customer,
    kind: isSubscription
      ? 'subscription'
      : invoice.metadata?.[CHARGE_KEY] === undefined
        ? 'top_up'
        : 'automatic_top_up',
    planName: line?.plan_name ?? null,
    periodStart: line?.period == null ? null : toDate(line.period.start),
    periodEnd: line?.period == null ? null : toDate(line.period.end),
    totalMicros: toMicros(total, currency),
    taxMicros: toMicros(total - net, currency),
    taxPercent: invoice.sandbox.tax_percent,
    currency: currency.toUpperCase(),
    status,
    issuedAt: toDate(invoice.effective_at ?? invoice.created),
    businessName: invoice.customer_name,
    vatNumber: invoice.customer_tax_ids[0]?.value ?? null,
  };
};

/** Returns the language that a customer prefers. */
const localeOf = (customer: Customer | undefined): Locale => (customer?.preferred_locales?.[0] === 'it' ? 'it' : 'en');

const newInvoice = (customer: Customer | undefined, paid: Pick<Paid, 'customer' | 'currency'>): Fields => {
  const vatNumber = customer?.sandbox?.vat_number ?? null;
  return {
    customer: paid.customer,
    currency: paid.currency.toLowerCase(),
    status: 'draft',
    number: null,
    effective_at: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    metadata: {},
    parent: null,
    customer_name: customer?.name ?? null,
    customer_tax_ids: vatNumber === null ? [] : [{ type: 'eu_vat', value: vatNumber }],
    lines: { object: 'list', data: [], has_more: false },
    payments: { object: 'list', data: [], has_more: false },
  };
};

const amountsOf = (customer: Customer | undefined, total: number, currency: string): Fields => {
  const code = currency.toUpperCase();
  const price = { totalMicros: toMicros(total, currency), currency: code };
  const { taxMicros, taxPercent } = taxOf(price, customer?.sandbox?.vat_number ?? null);
  return {
    total,
    subtotal: total,
    amount_due: total,
    total_excluding_tax: total - toMinor(toPayable(taxMicros, code), currency),
    sandbox: { tax_percent: taxPercent },
  };
};

/** Gives an invoice the next number of its year, and the addresses of its pages. */
const finalize = ({ objects, publicBaseUrl }: Account, id: string, issued: number): void => {
  const year = toDate(issued).getUTCFullYear();
  const counter = `sandbox_invoices_of_${year}`;
  const place = Number(objects.find(counter)?.['last'] ?? 0) + 1;
  objects.set({ id: counter, object: 'sandbox.counter', last: place });
  const locale = localeOf(objects.of('customer', String(objects.get(id)['customer'])));
  const url = `${publicBaseUrl}/sandbox/payments/invoices/${id}`;
  objects.update(id, {
    status: 'open',
    number: `SANDBOX-${year}-${String(place).padStart(6, '0')}`,
    effective_at: issued,
    hosted_invoice_url: `${url}?locale=${locale}`,
    invoice_pdf: `${url}/pdf?locale=${locale}`,
  });
};

const payInvoice = ({ objects }: Account, id: string, paymentIntent: string | null): Invoice => {
  const payments =
    paymentIntent === null
      ? []
      : [
          objects.put('invoice_payment', 'inpay', {
            invoice: id,
            status: 'paid',
            payment_intent: paymentIntent,
            payment: { type: 'payment_intent', payment_intent: paymentIntent },
          }),
        ];
  objects.update(id, {
    status: 'paid',
    ...(paymentIntent === null ? {} : { payment_intent: paymentIntent }),
    payments: { object: 'list', data: payments, has_more: false },
  });
  const invoice = objects.of('invoice', id);
  if (invoice === undefined) throw new Error(`the stand-in has no invoice ${id}`);
  return invoice;
};
