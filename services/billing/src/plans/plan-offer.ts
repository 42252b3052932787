import type { ConfiguredPlan, Plan } from '@svc/contracts';
import { inTransaction } from '@svc/database';
import type { Knex } from 'knex';
import { replaceOffer } from './queries.ts';

/** The plans that can be bought now. */
export interface PlanOffer {
  readonly plans: readonly ConfiguredPlan[];
  find(id: string): ConfiguredPlan | undefined;
}

/** Makes the configured plans the offer, in memory and for the functions of the database that decide by them. */
export const openPlanOffer = async (database: Knex, plans: readonly ConfiguredPlan[]): Promise<PlanOffer> => {
  await inTransaction(database, (trx) => replaceOffer(trx, plans));
  const byId = new Map(plans.map((plan) => [plan.id, plan]));
  return { plans, find: (id) => byId.get(id) };
};

/** A plan as anybody may see it: nothing of the payment provider's. */
export const toPublicPlan = ({ stripe_price_id: _, ...plan }: ConfiguredPlan): Plan => plan;
