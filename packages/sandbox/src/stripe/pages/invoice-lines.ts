import type { HostedInvoice } from '../invoice.ts';
import type { PageLanguage } from './page-language.ts';

/** Name and VAT number of the sandbox as a seller. It is no company. */
export const SELLER = { name: 'svc (sandbox)', vatNumber: 'IT00000000000' } as const;

/** Texts of an invoice in one language, in the order in which they are shown. */
export interface InvoiceLines {
  readonly title: string;
  readonly item: string;
  readonly period: string | null;
  readonly buyer: readonly string[];
  readonly amounts: readonly (readonly [label: string, amount: string])[];
  readonly total: readonly [label: string, amount: string];
  readonly issued: string;
  readonly status: string;
  readonly reverseCharge: string | null;
}

export const invoiceLines = (invoice: HostedInvoice, { text: texts, money, date }: PageLanguage): InvoiceLines => {
  const text = texts.invoice;
  const { currency, totalMicros, taxMicros, taxPercent, periodStart, periodEnd, businessName, vatNumber } = invoice;
  return {
    title: `${text.title} ${invoice.number}`,
    item: text.items[invoice.kind](invoice.planName ?? ''),
    period: periodStart === null || periodEnd === null ? null : `${date(periodStart)} – ${date(periodEnd)}`,
    buyer: [
      ...(businessName === null ? [] : [businessName]),
      ...(vatNumber === null ? [] : [text.vatNumber(vatNumber)]),
      text.customer(invoice.customer),
    ],
    amounts: [
      [text.net, money(totalMicros - taxMicros, currency)],
      [text.tax(taxPercent), money(taxMicros, currency)],
    ],
    total: [text.total, money(totalMicros, currency)],
    issued: text.issued(date(invoice.issuedAt)),
    status: text.statuses[invoice.status],
    reverseCharge: taxPercent === 0 ? text.reverseCharge : null,
  };
};
