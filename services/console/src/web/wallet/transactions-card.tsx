import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { type ItemOf, useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, Card, EmptyState, ErrorNotice, Loading, Table, Time } from '../ui/index.ts';

const PAGE_TRANSACTIONS = 20;

/** Changes of the wallet's balance, newest first. */
export const TransactionsCard = ({ currency }: { currency: string }): ReactElement => {
  const { wallet, common } = useI18n().messages;
  const pages = useTransactions();
  const transactions = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Card title={wallet.transactions} lead={wallet.transactionsLead}>
      {pages.isPending && <Loading lines={4} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && transactions.length === 0 && <EmptyState text={wallet.noTransactions} />}
      {transactions.length > 0 && <TransactionsTable transactions={transactions} currency={currency} />}
      {pages.hasNextPage && (
        <Button
          busyLabel={pages.isFetchingNextPage ? common.loading : undefined}
          onClick={() => void pages.fetchNextPage()}
        >
          {common.loadMore}
        </Button>
      )}
    </Card>
  );
};

const useTransactions = () => {
  const { call } = useApi();
  return useInfiniteQuery({
    queryKey: ['listWalletTransactions'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call('listWalletTransactions', { query: { limit: PAGE_TRANSACTIONS, after: pageParam } }, signal),
    getNextPageParam: ({ data, has_more }) => (has_more ? data.at(-1)?.id : undefined),
  });
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
        { title: columns.type, render: ({ type }) => wallet.types[type] },
        {
          title: columns.amount,
          isNumber: true,
          render: ({ amount_micros }) => formats.money(amount_micros, currency),
        },
        {
          title: columns.balance,
          isNumber: true,
          render: ({ balance_after_micros }) => formats.money(balance_after_micros, currency),
        },
      ]}
    />
  );
};
