export { alertRoutes, deleteAlertSettings } from './alerts.ts';
export { type AppStanding, appBudgetRoutes, findAppStanding } from './app-budgets.ts';
export { extraUsageRoutes, findExtraStanding } from './extra-usage.ts';
