import { buffer } from 'node:stream/consumers';
import type { HostedInvoice } from '../invoice.ts';
import type { PageLanguage } from './page-language.ts';

/** Name and VAT number of the sandbox as a seller. It is no company. */
export const SELLER = { name: 'svc (sandbox)', vatNumber: 'IT00000000000' } as const;

/** Texts of an invoice in one language, in the order in which they are shown. */
interface InvoiceLines {
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

const MARGIN = 56;
const WIDTH = 595.28 - 2 * MARGIN;
const SOFT = '#5c5c66';
const TEXT = '#1b1b1f';

/** Renders an invoice as PDF (A4). The same invoice and language give the same text. */
export const renderInvoicePdf = async (invoice: HostedInvoice, language: PageLanguage): Promise<Buffer> => {
  // Loaded on demand, because only this needs it.
  const { default: PDFDocument } = await import('pdfkit');
  const lines = invoiceLines(invoice, language);
  const text = language.text.invoice;
  const document = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    lang: language.locale,
    info: { Title: lines.title, Author: SELLER.name, CreationDate: invoice.issuedAt },
  });
  const rule = () => {
    document.moveDown(0.5);
    document
      .moveTo(MARGIN, document.y)
      .lineTo(MARGIN + WIDTH, document.y)
      .strokeColor('#d9d9e0')
      .stroke();
    document.moveDown(0.5);
  };
  const paragraph = (content: string, { size = 11, color = TEXT }: { size?: number; color?: string } = {}) =>
    document.fontSize(size).fillColor(color).text(content);
  const row = ([label, amount]: readonly [string, string], size = 11) => {
    const top = document.y;
    document
      .fontSize(size)
      .fillColor(TEXT)
      .text(label, MARGIN, top, { width: WIDTH * 0.6 });
    document.text(amount, MARGIN + WIDTH * 0.6, top, { width: WIDTH * 0.4, align: 'right' });
    document.x = MARGIN;
    document.moveDown(0.25);
  };
  paragraph(lines.title, { size: 20 });
  paragraph(`${lines.issued} – ${lines.status}`, { color: SOFT });
  document.moveDown();
  paragraph(text.seller, { size: 9, color: SOFT });
  paragraph(`${SELLER.name}\n${text.vatNumber(SELLER.vatNumber)}`);
  document.moveDown();
  paragraph(text.buyer, { size: 9, color: SOFT });
  paragraph(lines.buyer.join('\n'));
  rule();
  row([lines.item, lines.total[1]]);
  if (lines.period !== null) paragraph(lines.period, { size: 9, color: SOFT });
  rule();
  for (const amount of lines.amounts) row(amount);
  rule();
  row(lines.total, 14);
  document.moveDown();
  if (lines.reverseCharge !== null) paragraph(lines.reverseCharge, { size: 9, color: SOFT });
  paragraph(text.notFiscal, { size: 9, color: SOFT });
  const bytes = buffer(document);
  document.end();
  return bytes;
};
