import type { Invoice } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { OutsideLink } from '../ui/index.ts';

/** Links to the page and PDF of an invoice, if the payment provider has them. */
export const InvoiceLinks = ({ invoice }: { invoice: Invoice }): ReactElement => {
  const { invoices } = useI18n().messages;
  const { number, url, pdf_url: pdfUrl } = invoice;
  return (
    <span className="button-pair">
      {url !== null && (
        <OutsideLink url={url} about={number}>
          {invoices.view}
        </OutsideLink>
      )}
      {pdfUrl !== null && (
        <OutsideLink url={pdfUrl} about={number}>
          {invoices.pdf}
        </OutsideLink>
      )}
    </span>
  );
};
