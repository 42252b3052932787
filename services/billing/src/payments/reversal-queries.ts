import type { Knex } from 'knex';

/** A refund or dispute of a top-up, made at the provider. */
export interface Reversal {
  readonly id: string;
  readonly kind: 'refund' | 'dispute';
  /** Amount that is gone; 0 if the refund failed or the dispute was won. */
  readonly amountMicros: number;
}

export interface ReversalChange {
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
