import type { Refund } from '@svc/contracts';
import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import { whereDue } from '../jobs.ts';

export interface TopUpRefund {
  readonly id: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly amountMicros: number;
  readonly state: Refund['state'];
}

const COLUMNS = recordColumns<TopUpRefund>({
  id: 'id text',
  userId: 'svc_user_id text',
  sessionId: 'session_id text',
  amountMicros: 'amount_micros bigint',
  state: 'state text',
});

const selectRefunds = (database: Knex) =>
  database('wallet_refunds').select<TopUpRefund[]>(database.raw(COLUMNS.select('wallet_refunds')));

export const findRefund = async (database: Knex, id: string): Promise<TopUpRefund | undefined> =>
  await selectRefunds(database).where({ id }).first();

/** Finds a refund and locks it until the transaction ends. */
export const lockRefund = async (trx: Knex.Transaction, id: string): Promise<TopUpRefund | undefined> =>
  await selectRefunds(trx).where({ id }).forUpdate().first();

/** Inserts a pending refund. Returns false if the id is taken. */
export const insertRefund = async (trx: Knex.Transaction, refund: Omit<TopUpRefund, 'state'>): Promise<boolean> => {
  const inserted = await trx('wallet_refunds')
    .insert({ ...COLUMNS.toRow({ ...refund, state: 'pending' }), created_at: trx.raw('billing_now()') })
    .onConflict('id')
    .ignore()
    .returning('id');
  return inserted.length > 0;
};

/** Records the payment provider's decision on a refund. */
export const updateRefundState = async (
  trx: Knex.Transaction,
  id: string,
  state: Exclude<Refund['state'], 'pending'>,
): Promise<void> => {
  await trx('wallet_refunds')
    .where({ id })
    .update({ state, ended_at: trx.raw('billing_now()') });
};

/** Returns the sum of completed and pending refunds of a top-up. */
export const sumRefunds = async (database: Knex, sessionId: string): Promise<number> => {
  const row = await database('wallet_refunds')
    .where({ session_id: sessionId })
    .whereNot({ state: 'refused' })
    .first(database.raw('coalesce(sum(amount_micros), 0)::bigint AS total'));
  return row?.total ?? 0;
};

/** Lists refunds that the payment provider has not answered yet, oldest first, but for those that wait. */
export const listPendingRefunds = async (database: Knex, limit: number): Promise<string[]> =>
  await whereDue(database('wallet_refunds').where({ state: 'pending' }), 'refunds', 'wallet_refunds.id')
    .orderBy('created_at')
    .limit(limit)
    .pluck('id');

/** A refund or dispute of a top-up, made at the provider. */
export interface Reversal {
  readonly id: string;
  readonly kind: 'refund' | 'dispute';
  /** Amount that is gone; 0 if the refund failed or the dispute was won. */
  readonly amountMicros: number;
}

interface ReversalChange {
  /** Amount to take from the wallet; negative if it is given back. */
  readonly changeMicros: number;
  /** Number of changes so far. */
  readonly changes: number;
}

/** Stores the state of a reversal. Returns its change; undefined if a newer state is stored. */
export const upsertReversal = async (
  trx: Knex.Transaction,
  owner: { readonly userId: string; readonly sessionId: string },
  { id, kind, amountMicros, ticket }: Reversal & { readonly ticket: number },
): Promise<ReversalChange | undefined> => {
  const { rows } = await trx.raw<{ rows: { change_micros: number; changes: number }[] }>(
    `INSERT INTO payment_reversals AS r (provider_reversal_id, svc_user_id, session_id, kind, amount_micros,
        provider_ticket, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, billing_now())
      ON CONFLICT (provider_reversal_id) DO UPDATE SET amount_micros = excluded.amount_micros,
        changes = r.changes + (r.amount_micros <> excluded.amount_micros)::int, provider_ticket = excluded.provider_ticket,
        updated_at = excluded.updated_at
      WHERE r.provider_ticket < excluded.provider_ticket
      RETURNING new.amount_micros - coalesce(old.amount_micros, 0) AS change_micros, new.changes`,
    [id, owner.userId, owner.sessionId, kind, amountMicros, ticket],
  );
  const [row] = rows;
  return row && { changeMicros: row.change_micros, changes: row.changes };
};

/** Returns the sum of what reversals have taken from a top-up. */
export const sumReversals = async (database: Knex, sessionId: string): Promise<number> => {
  const row = await database('payment_reversals')
    .where({ session_id: sessionId })
    .first(database.raw('coalesce(sum(amount_micros), 0)::bigint AS total'));
  return row?.total ?? 0;
};
