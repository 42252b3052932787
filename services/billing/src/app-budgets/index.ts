export type { AppStanding } from './app-budget.ts';
export { findAppStanding } from './queries.ts';
export { appBudgetRoutes } from './routes.ts';
