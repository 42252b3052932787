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
export async function replaceOffer(trx: Knex.Transaction, plans: readonly ConfiguredPlan[]): Promise<void> {
  const rows = plans.map((plan) => ({
    id: plan.id,
    name: plan.name,
    interval: plan.price.interval,
    includes_chat: plan.services.chat,
    includes_audio_transcription: plan.services.audio_transcription,
    weekly_limit_micros: plan.weekly_limit_micros,
    monthly_limit_micros: plan.monthly_limit_micros,
    stripe_price_id: plan.stripe_price_id ?? null,
    is_offered: true,
    updated_at: trx.raw('billing_now()'),
  }));
  await trx('plans').insert(rows).onConflict('id').merge();
  const ids = plans.map(({ id }) => id);
  await trx('plans').whereNotIn('id', ids).andWhere({ is_offered: true }).update({ is_offered: false });
}

/** The terms of a plan, offered or not. */
export async function findPlanById(database: Knex, id: string): Promise<PlanTerms | undefined> {
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
}

/** The plan that a price at Stripe stands for; an offered one before one that no longer is. */
export async function findPlanIdByStripePrice(database: Knex, stripePriceId: string): Promise<string | undefined> {
  const row: { id: string } | undefined = await database('plans')
    .where({ stripe_price_id: stripePriceId })
    .orderBy([
      { column: 'is_offered', order: 'desc' },
      { column: 'updated_at', order: 'desc' },
    ])
    .first('id');
  return row?.id;
}
