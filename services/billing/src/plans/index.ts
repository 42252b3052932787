export { loadPlans } from './load-plans.ts';
export { findPlanById, findPlanIdByStripe, type PlanTerms, upsertStripeProduct } from './queries.ts';
export { openPlanOffer, type PlanOffer, planInternalRoutes, planRoutes } from './routes.ts';
