import { html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import type { HostedInvoice } from '../invoice.ts';
import { invoiceLines, SELLER } from './invoice-lines.ts';
import { pageReply } from './page.ts';
import type { PageLanguage } from './page-language.ts';

export const invoicePage = (invoice: HostedInvoice, language: PageLanguage): ReplyContent => {
  const lines = invoiceLines(invoice, language);
  const text = language.text.invoice;
  const row = ([label, amount]: readonly [string, string]) => html`<div><dt>${label}</dt><dd>${amount}</dd></div>`;
  const pdf = `/sandbox/payments/invoices/${encodeURIComponent(invoice.id)}/pdf?locale=${language.locale}`;
  const body = html`<section><h1>${lines.title}</h1>
<p class="note">${lines.issued} · ${lines.status}</p>
<p>${text.seller}: ${SELLER.name}, ${text.vatNumber(SELLER.vatNumber)}</p>
<p>${text.buyer}: ${lines.buyer.join(', ')}</p>
<p>${lines.item}${lines.period !== null && html`<br><span class="note">${lines.period}</span>`}</p>
<dl>${lines.amounts.map(row)}<div class="total"><dt>${lines.total[0]}</dt><dd>${lines.total[1]}</dd></div></dl>
${lines.reverseCharge !== null && html`<p class="note">${lines.reverseCharge}</p>`}
<p class="note">${text.notFiscal}</p>
<a class="button" href="${pdf}">${text.download}</a></section>`;
  return pageReply({ title: lines.title, body, layout: 'narrow', language, redirects: [] });
};
