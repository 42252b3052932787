export { type AppStanding, describeBudget } from './app-budget.ts';
export { findAppStanding } from './queries.ts';
export { appBudgetRoutes } from './routes.ts';
