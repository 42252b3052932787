import { sandboxRoutes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { Account } from './account.ts';
import type { HostedInvoice } from './invoice.ts';
import { toHostedInvoice } from './invoices.ts';
import { invoicePage } from './pages/invoice-page.ts';
import { renderInvoicePdf } from './pages/invoice-pdf.ts';
import { languageOf } from './pages/page-language.ts';
import { replyToMissing } from './pages/page-replies.ts';

/** Routes of invoices. Their ids cannot be guessed, so knowing one is enough to see it. */
export const invoiceRoutes = ({ objects }: Account): Binding[] => {
  const find = (id: string): HostedInvoice | undefined => {
    const invoice = objects.of('invoice', id);
    return invoice && toHostedInvoice(invoice);
  };
  return [
    bind(sandboxRoutes.showSandboxInvoice, async ({ params, query, req }) => {
      const invoice = find(params.invoice_id);
      if (invoice === undefined) return replyToMissing(req, query.locale);
      return invoicePage(invoice, languageOf(req, query.locale));
    }),
    bind(sandboxRoutes.getSandboxInvoicePdf, async ({ params, query, req }) => {
      const invoice = find(params.invoice_id);
      if (invoice === undefined) throw new AppError('not_found');
      return {
        status: 200,
        contentType: 'application/pdf',
        body: await renderInvoicePdf(invoice, languageOf(req, query.locale)),
        headers: { 'content-disposition': `inline; filename="${invoice.number}.pdf"`, vary: 'accept-language' },
      };
    }),
  ];
};
