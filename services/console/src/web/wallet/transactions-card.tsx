import type { ReactElement } from 'react';
import { type ItemOf, useApi, useApiPages } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Money, PagesCard, Table, Time } from '../ui/index.ts';

const PAGE_TRANSACTIONS = 20;

/** Changes of the wallet's balance, newest first. */
export const TransactionsCard = ({ currency }: { currency: string }): ReactElement => {
  const { wallet } = useI18n().messages;
  const { call } = useApi();
  const pages = useApiPages('listWalletTransactions', (after, signal) =>
    call('listWalletTransactions', { query: { limit: PAGE_TRANSACTIONS, after } }, signal),
  );
  return (
    <PagesCard title={wallet.transactions} lead={wallet.transactionsLead} empty={wallet.noTransactions} pages={pages}>
      {(transactions) => <TransactionsTable transactions={transactions} currency={currency} />}
    </PagesCard>
  );
};

const TransactionsTable = ({
  transactions,
  currency,
}: {
  transactions: readonly ItemOf<'listWalletTransactions'>[];
  currency: string;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { wallet } = messages;
  const { columns } = wallet;
  return (
    <Table
      label={wallet.transactions}
      rows={transactions}
      keyOf={({ id }) => id}
      columns={[
        { title: columns.time, isHeader: true, render: ({ created_at }) => <Time at={created_at} exact /> },
        {
          title: columns.type,
          render: ({ type, extra_use_micros: extra = 0 }) => (
            <>
              {wallet.types[type]}
              {extra > 0 && <span className="hint"> {wallet.extraUse(formats.money(extra, currency))}</span>}
            </>
          ),
        },
        {
          title: columns.amount,
          isNumber: true,
          render: ({ amount_micros }) => <Money micros={amount_micros} currency={currency} isFine />,
        },
        {
          title: columns.balance,
          isNumber: true,
          render: ({ balance_after_micros }) => <Money micros={balance_after_micros} currency={currency} isFine />,
        },
      ]}
    />
  );
};
