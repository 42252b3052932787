export { loadPlans } from './load-plans.ts';
export { openPlanOffer, type PlanOffer } from './plan-offer.ts';
export { findPlanById, findPlanIdByStripePrice, type PlanTerms } from './queries.ts';
export { planRoutes } from './routes.ts';
