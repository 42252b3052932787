import type { Knex } from 'knex';
import { findWallet } from './queries.ts';
import type { Wallet } from './wallet.ts';

/** Reads a wallet; an account that never topped up has an empty one. */
export const readWallet = async (database: Knex, userId: string, currency: string): Promise<Wallet> =>
  (await findWallet(database, userId)) ?? { balance_micros: 0, held_micros: 0, currency };
