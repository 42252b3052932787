export { readBudgetProposal } from './budget-proposal.ts';
export { deleteDeniedFormsBefore } from './denied-form-queries.ts';
export * from './pages/index.ts';
export { consentRoutes } from './routes.ts';
export { createTypicalUse } from './typical-use.ts';
