import type { WalletTransaction } from '@svc/contracts';
import type { Knex } from 'knex';
import { listTransactions, type TransactionRow } from './transaction-queries.ts';

/** Lists a page of a wallet's transactions, newest first. */
export const listWalletTransactions = async (
  database: Knex,
  page: { readonly userId: string; readonly after: string | undefined; readonly limit: number },
): Promise<{ data: WalletTransaction[]; has_more: boolean }> => {
  // One extra row shows if there is another page.
  const rows = await listTransactions(database, { ...page, limit: page.limit + 1 });
  return { data: rows.slice(0, page.limit).map(showTransaction), has_more: rows.length > page.limit };
};

const showTransaction = (row: TransactionRow): WalletTransaction => ({
  id: row.id,
  type: row.type,
  amount_micros: row.amountMicros,
  balance_after_micros: row.balanceAfterMicros,
  ...(row.extraMicros > 0 ? { extra_use_micros: row.extraMicros } : {}),
  created_at: row.createdAt.toISOString(),
  description: DESCRIPTIONS[row.type](row),
});

const DESCRIPTIONS: Readonly<Record<TransactionRow['type'], (row: TransactionRow) => string>> = {
  top_up: ({ origin }) => (origin === 'auto_top_up' ? 'Automatic top-up' : 'Top-up'),
  usage: ({ day, amountMicros, extraMicros }) => {
    if (extraMicros === 0) return `API usage on ${day} (UTC)`;
    return `${extraMicros === -amountMicros ? 'Extra use' : 'API usage and extra use'} on ${day} (UTC)`;
  },
  refund: () => 'Refund of a top-up',
  write_off: () => 'Write-off',
  adjustment: ({ origin, amountMicros }) => {
    if (origin !== 'dispute') return 'Refund that was refused by the payment provider';
    return amountMicros < 0 ? 'Disputed payment, taken back by the bank' : 'Dispute closed, the payment is back';
  },
};
