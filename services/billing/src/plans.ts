import { readFileSync } from 'node:fs';
import {
  type ConfiguredPlan,
  internalRoutes,
  minorUnitOf,
  type Plan,
  plansFileSchema,
  routes,
  stripePriceOf,
} from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type Document, parseDocument } from 'yaml';

/** Error for an invalid plans file. The message names the file and lists every fault. */
class PlansFileError extends Error {
  override readonly name = 'PlansFileError';
  readonly code = 'plans_file_invalid';

  constructor(path: string, faults: readonly string[], cause?: unknown) {
    super([`PLANS_FILE: the plans in ${path} are invalid:`, ...faults.map((fault) => `  ${fault}`)].join('\n'), {
      cause,
    });
  }
}

/** Rules for plans beyond their schema. */
interface PlanRules {
  readonly currency: string;
  /** True if each plan must name its Stripe price. */
  readonly needsStripePrice: boolean;
}

/** Reads and validates the plans file. Throws PlansFileError with all faults at once. */
export const loadPlans = (path: string, rules: PlanRules): readonly ConfiguredPlan[] => {
  const document = parseDocument(readText(path), { prettyErrors: true, uniqueKeys: true });
  if (document.errors.length > 0) {
    const faults = document.errors.map((error) => error.message.split('\n')[0] ?? error.code);
    throw new PlansFileError(path, faults);
  }
  const result = plansFileSchema.safeParse(readDocument(path, document));
  if (!result.success) {
    const faults = result.error.issues.map(
      (issue) => `${issue.path.map(String).join('.') || '(file)'}: ${issue.message}`,
    );
    throw new PlansFileError(path, faults);
  }
  const { plans } = result.data;
  const faults = [...plans.flatMap((plan) => faultsOf(plan, rules)), ...sharedPrices(plans)];
  if (faults.length > 0) throw new PlansFileError(path, faults);
  return plans;
};

/** Resolves aliases, which generated YAML contains. Throws PlansFileError for an undefined alias or an alias bomb. */
const readDocument = (path: string, document: Document): unknown => {
  try {
    return document.toJS();
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new PlansFileError(path, [error.message]);
  }
};

const faultsOf = ({ id, price, stripe_price_id }: ConfiguredPlan, rules: PlanRules): string[] => [
  ...(price.currency === rules.currency
    ? []
    : [`plan ${id}: is priced in ${price.currency}, but billing is in ${rules.currency}`]),
  ...partOfMinorUnit(id, price),
  ...(rules.needsStripePrice && stripe_price_id === undefined ? [`plan ${id}: stripe_price_id is missing`] : []),
];

/** Returns a fault for a price that cannot be paid exactly. */
const partOfMinorUnit = (id: string, { amount_micros: amount, currency }: ConfiguredPlan['price']): string[] => {
  const unit = minorUnitOf(currency);
  if (unit === undefined) return [`plan ${id}: the minor units of ${currency} are not known`];
  const isWhole = amount % unit.stepMicros === 0;
  return isWhole ? [] : [`plan ${id}: the price must be a whole number of ${unit.stepMicros} micros in ${currency}`];
};

/** Returns a fault for each price shared by several plans. A price must identify the bought plan. */
const sharedPrices = (plans: readonly ConfiguredPlan[]): string[] => {
  const prices = plans.map(stripePriceOf);
  return [...new Set(prices.filter((price, index) => prices.indexOf(price) !== index))].map(
    (price) => `the price ${price} is used by more than one plan`,
  );
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new PlansFileError(path, ['the file cannot be read'], error);
  }
};

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
const replaceOffer = async (trx: Knex.Transaction, plans: readonly ConfiguredPlan[]): Promise<void> => {
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

/** Plans that can be bought now. */
export interface PlanOffer {
  readonly plans: readonly ConfiguredPlan[];
  readonly find: (id: string) => ConfiguredPlan | undefined;
}

/** Publishes the configured plans as the offer, in memory and in the database, whose functions use their limits. */
export const openPlanOffer = async (database: Knex, plans: readonly ConfiguredPlan[]): Promise<PlanOffer> => {
  await database.transaction((trx) => replaceOffer(trx, plans));
  const byId = new Map(plans.map((plan) => [plan.id, plan]));
  return { plans, find: (id) => byId.get(id) };
};

/** Removes the fields of the payment provider from a plan. */
const toPublicPlan = ({ stripe_price_id: _, ...plan }: ConfiguredPlan): Plan => plan;

/** Binds the public routes of plans. */
export const planRoutes = (offer: PlanOffer): Binding[] => [
  bind(routes.listPlans, async () => ({ status: 200, body: { data: offer.plans.map(toPublicPlan) } })),
];

/** Binds the internal route of plans. */
export const planInternalRoutes = (offer: PlanOffer): Binding[] => [
  bind(internalRoutes.listOfferedPlans, async () => ({ status: 200, body: { data: offer.plans.map(toPublicPlan) } })),
];
