import { buffer } from 'node:stream/consumers';
import type { HostedInvoice } from '../invoice.ts';
import { invoiceLines, SELLER } from './invoice-lines.ts';
import type { PageLanguage } from './page-language.ts';

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
