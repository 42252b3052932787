export { loadPlans } from './load-plans.ts';
export { openPlanOffer, type PlanOffer } from './plan-offer.ts';
export { findPlanById, findPlanIdByStripe, type PlanTerms, upsertStripeProduct } from './queries.ts';
export { planInternalRoutes, planRoutes } from './routes.ts';
