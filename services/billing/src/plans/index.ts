export { loadPlans, PlansFileError } from './load-plans.ts';
export { openPlanOffer, type PlanOffer } from './plan-offer.ts';
export { findPlanById, type PlanTerms } from './queries.ts';
export { planRoutes } from './routes.ts';
