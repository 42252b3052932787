import { type ConfiguredPlan, stripePriceOf } from '@svc/contracts';
import type { Knex } from 'knex';

/** A plan as last configured, offered or not. */
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

/** Stores the configured plans. Plans missing from the file stay for their subscribers, but are no longer offered. */
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
  const prices = plans.map((plan) => ({ stripe_id: stripePriceOf(plan), plan_id: plan.id }));
  await trx('stripe_catalog').insert(prices).onConflict('stripe_id').merge();
  const ids = plans.map(({ id }) => id);
  await trx('plans').whereNotIn('id', ids).andWhere({ is_offered: true }).update({ is_offered: false });
};

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

/** Finds the plan of a Stripe price, or else the only plan ever sold with its product. */
export const findPlanIdByStripe = async (
  database: Knex,
  stripe: { readonly priceId: string; readonly productId: string | null },
): Promise<string | undefined> => {
  const rows: { stripe_id: string; plan_id: string | null }[] = await database('stripe_catalog')
    .whereIn('stripe_id', [stripe.priceId, ...(stripe.productId === null ? [] : [stripe.productId])])
    .select('stripe_id', 'plan_id');
  const planOf = (id: string | null) => rows.find(({ stripe_id }) => stripe_id === id)?.plan_id ?? undefined;
  return planOf(stripe.priceId) ?? planOf(stripe.productId);
};

/** Stores the plan of a Stripe product. A product sold as several plans identifies none of them. */
export const upsertStripeProduct = async (database: Knex, productId: string, planId: string): Promise<void> => {
  await database.raw(
    `INSERT INTO stripe_catalog AS c (stripe_id, plan_id) VALUES (?, ?)
     ON CONFLICT (stripe_id) DO UPDATE SET plan_id = NULL WHERE c.plan_id <> excluded.plan_id`,
    [productId, planId],
  );
};
