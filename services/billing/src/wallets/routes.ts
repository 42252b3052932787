import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { listWalletTransactions } from './list-wallet-transactions.ts';
import { readWallet } from './read-wallet.ts';

/** Binds the routes of the wallet. Top-ups go through the routes of payments. */
export const walletRoutes = ({ database, currency }: { database: Knex; currency: string }): Binding[] => [
  bind(routes.getWallet, async ({ caller }) => ({
    status: 200,
    body: await readWallet(database, caller.userId, currency),
  })),
  bind(routes.listWalletTransactions, async ({ caller, query }) => ({
    status: 200,
    body: await listWalletTransactions(database, { userId: caller.userId, after: query.after, limit: query.limit }),
  })),
];
