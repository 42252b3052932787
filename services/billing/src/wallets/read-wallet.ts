import type { Knex } from 'knex';
import { findWallet } from './queries.ts';
import type { Wallet } from './wallet.ts';

/** Reads the wallet of an account; an empty one before the first top-up. */
export const readWallet = async (database: Knex, userId: string, currency: string): Promise<Wallet> =>
  (await findWallet(database, userId)) ?? { balance_micros: 0, held_micros: 0, currency };
