import type { Invoice } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApi, useApiPages } from './api/index.ts';
import { useI18n } from './i18n/index.ts';
import { Badge, OutsideLink, PagesCard, Table, type Tone } from './ui/index.ts';

const PAGE_INVOICES = 10;

const TONES: Readonly<Record<Invoice['status'], Tone>> = {
  paid: 'good',
  open: 'warn',
  uncollectible: 'bad',
  void: 'neutral',
};

/** Lists the invoices of the plan and of top-ups, newest first. */
export const InvoicesCard = (): ReactElement => {
  const { invoices: texts } = useI18n().messages;
  const { call } = useApi();
  const pages = useApiPages('listInvoices', (after, signal) =>
    call('listInvoices', { query: { limit: PAGE_INVOICES, after } }, signal),
  );
  return (
    <PagesCard title={texts.title} lead={texts.lead} empty={texts.none} pages={pages}>
      {(invoices) => <InvoicesTable invoices={invoices} />}
    </PagesCard>
  );
};

const InvoicesTable = ({ invoices }: { invoices: readonly Invoice[] }): ReactElement => {
  const { messages, formats } = useI18n();
  const { invoices: texts } = messages;
  const { columns } = texts;
  return (
    <Table
      label={texts.title}
      rows={invoices}
      keyOf={({ id }) => id}
      columns={[
        { title: columns.number, isHeader: true, render: ({ number }) => number },
        { title: columns.date, render: ({ issued_at }) => <time dateTime={issued_at}>{formats.date(issued_at)}</time> },
        { title: columns.description, render: ({ description }) => description || '–' },
        {
          title: columns.total,
          isNumber: true,
          render: ({ total_micros, currency }) => formats.money(total_micros, currency),
        },
        {
          title: columns.status,
          render: ({ status }) => <Badge tone={TONES[status]}>{texts.statuses[status]}</Badge>,
        },
        { title: columns.links, isAction: true, render: (invoice) => <InvoiceLinks invoice={invoice} /> },
      ]}
    />
  );
};

/** Links to the page and PDF of an invoice, if the payment provider has them. */
const InvoiceLinks = ({ invoice }: { invoice: Invoice }): ReactElement => {
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
