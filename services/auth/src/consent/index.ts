export { readBudgetProposal } from './budget-proposal.ts';
export { type OpenApprovedGrantDeps, openApprovedGrant } from './decide-consent.ts';
export { deleteDeniedFormsBefore } from './denied-form-queries.ts';
export * from './pages/index.ts';
export { consentRoutes } from './routes.ts';
export { parseScope } from './scope.ts';
export { createTypicalUse } from './typical-use.ts';
