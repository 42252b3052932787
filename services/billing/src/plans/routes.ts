import { type ConfiguredPlan, internalRoutes, type Plan, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { replaceOffer } from './queries.ts';

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
