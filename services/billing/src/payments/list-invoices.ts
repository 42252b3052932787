import type { Invoice } from '@svc/contracts';
import type { InvoicePage, PaymentProvider, ProviderInvoice } from './provider.ts';

/** Lists a page of an account's invoices, newest first, as the payment provider has them. */
export const listInvoices = async (
  { provider }: { readonly provider: PaymentProvider },
  page: InvoicePage,
): Promise<{ data: Invoice[]; has_more: boolean }> => {
  const { data, hasMore } = await provider.listInvoices(page);
  return { data: data.map(showInvoice), has_more: hasMore };
};

const showInvoice = (invoice: ProviderInvoice): Invoice => ({
  id: invoice.id,
  number: invoice.number,
  description: invoice.description,
  net_micros: invoice.netMicros,
  tax_micros: invoice.taxMicros,
  total_micros: invoice.totalMicros,
  currency: invoice.currency,
  status: invoice.status,
  issued_at: invoice.issuedAt.toISOString(),
  url: invoice.url,
  pdf_url: invoice.pdfUrl,
});
