import type { Knex } from 'knex';

/** A transaction of the service's own database. */
export type Transaction = Knex.Transaction;

/** Runs SQL: the pool or one transaction. */
export type Executor = Knex | Knex.Transaction;

/** `withOutbox` over the service's database and relay. */
export type Transact = <T>(work: (trx: Transaction) => Promise<T>) => Promise<T>;
