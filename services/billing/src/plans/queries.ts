import type { ConfiguredPlan } from '@svc/contracts';
import type { Knex } from 'knex';

/** A plan as it was last configured, whether or not it is still offered. */
export interface PlanTerms {
  readonly id: string;
  readonly name: string;
  readonly interval: 'month' | 'year';
  readonly services: { readonly chat: boolean; readonly audio_transcription: boolean };
  readonly weeklyLimitMicros: number;
  readonly monthlyLimitMicros: number;
}

interface PlanRow {
  id: string;
  name: string;
  interval: 'month' | 'year';
  includes_chat: boolean;
  includes_audio_transcription: boolean;
  weekly_limit_micros: number;
  monthly_limit_micros: number;
}

/** Takes over what is configured; plans that are no longer in the file are kept for those who have them. */
export const replaceOffer = async (trx: Knex.Transaction, plans: readonly ConfiguredPlan[]): Promise<void> => {
  const rows = plans.map((plan) => ({
    id: plan.id,
    name: plan.name,
    interval: plan.price.interval,
    includes_chat: plan.services.chat,
    includes_audio_transcription: plan.services.audio_transcription,
    weekly_limit_micros: plan.weekly_limit_micros,
    monthly_limit_micros: plan.monthly_limit_micros,
    is_offered: true,
    updated_at: trx.raw('billing_now()'),
  }));
  await trx('plans').insert(rows).onConflict('id').merge();
  const prices = plans.flatMap(({ id, stripe_price_id }) =>
    stripe_price_id === undefined ? [] : [{ stripe_id: stripe_price_id, plan_id: id }],
  );
  if (prices.length > 0) await trx('stripe_catalog').insert(prices).onConflict('stripe_id').merge();
  const ids = plans.map(({ id }) => id);
  await trx('plans').whereNotIn('id', ids).andWhere({ is_offered: true }).update({ is_offered: false });
};

/** The terms of a plan, offered or not. */
export const findPlanById = async (database: Knex, id: string): Promise<PlanTerms | undefined> => {
  const row: PlanRow | undefined = await database('plans').where({ id }).first();
  if (row === undefined) return undefined;
  return {
    id: row.id,
    name: row.name,
    interval: row.interval,
    services: { chat: row.includes_chat, audio_transcription: row.includes_audio_transcription },
    weeklyLimitMicros: row.weekly_limit_micros,
    monthlyLimitMicros: row.monthly_limit_micros,
  };
};

/** The plan for which a price at Stripe stands, or else the only plan that its product was ever sold as. */
export const findPlanIdByStripe = async (
  database: Knex,
  stripe: { readonly priceId: string; readonly productId: string },
): Promise<string | undefined> => {
  const rows: { stripe_id: string; plan_id: string | null }[] = await database('stripe_catalog')
    .whereIn('stripe_id', [stripe.priceId, stripe.productId])
    .select('stripe_id', 'plan_id');
  const planOf = (id: string) => rows.find(({ stripe_id }) => stripe_id === id)?.plan_id ?? undefined;
  return planOf(stripe.priceId) ?? planOf(stripe.productId);
};

/** Remembers as which plan a product at Stripe is sold; one that is sold as several stands for none. */
export const upsertStripeProduct = async (database: Knex, productId: string, planId: string): Promise<void> => {
  await database.raw(
    `INSERT INTO stripe_catalog AS c (stripe_id, plan_id) VALUES (?, ?)
     ON CONFLICT (stripe_id) DO UPDATE SET plan_id = NULL WHERE c.plan_id <> excluded.plan_id`,
    [productId, planId],
  );
};
