import type { Knex } from 'knex';

/** A dispute of a payment for a subscription, as Stripe reports it. */
export interface SubscriptionDispute {
  readonly id: string;
  readonly providerSubscriptionId: string;
  readonly isLost: boolean;
  /** Taken before Stripe was asked. */
  readonly ticket: number;
}

/** Stores the latest state of a dispute. The time of its loss is the one at which it was first seen lost. */
export const upsertDispute = async (database: Knex, dispute: SubscriptionDispute): Promise<void> => {
  await database.raw(
    `INSERT INTO subscription_disputes AS d (provider_dispute_id, provider_subscription_id, lost_at, provider_ticket)
      VALUES (:id, :providerSubscriptionId, CASE WHEN :isLost THEN billing_now() END, :ticket)
      ON CONFLICT (provider_dispute_id) DO UPDATE SET provider_ticket = excluded.provider_ticket,
        lost_at = CASE WHEN excluded.lost_at IS NULL THEN NULL ELSE coalesce(d.lost_at, excluded.lost_at) END
      WHERE d.provider_ticket < excluded.provider_ticket`,
    { ...dispute },
  );
};

/** Returns true if the dispute is stored as lost. */
export const isDisputeLost = async (database: Knex, id: string): Promise<boolean> => {
  const row = await database('subscription_disputes')
    .where({ provider_dispute_id: id })
    .whereNotNull('lost_at')
    .first('provider_dispute_id');
  return row !== undefined;
};

/** Returns the time of the latest loss since the period began; undefined if no payment was lost. */
export const findLossSince = async (
  database: Knex,
  { providerSubscriptionId, since }: { readonly providerSubscriptionId: string; readonly since: Date },
): Promise<Date | undefined> => {
  const row = await database('subscription_disputes')
    .where({ provider_subscription_id: providerSubscriptionId })
    .where('lost_at', '>=', since)
    .orderBy('lost_at', 'desc')
    .first('lost_at');
  return row?.lost_at;
};
