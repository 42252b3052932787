import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type PlanOffer, toPublicPlan } from './plan-offer.ts';

/** Binds the public routes of plans. */
export const planRoutes = (offer: PlanOffer): Binding[] => [
  bind(routes.listPlans, async () => ({ status: 200, body: { data: offer.plans.map(toPublicPlan) } })),
];

/** Binds the internal route of plans. */
export const planInternalRoutes = (offer: PlanOffer): Binding[] => [
  bind(internalRoutes.listOfferedPlans, async () => ({ status: 200, body: { data: offer.plans.map(toPublicPlan) } })),
];
