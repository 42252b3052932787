export { readBudgetProposal } from './budget-proposal.ts';
export { deleteDeniedFormsBefore } from './denied-form-queries.ts';
export { type OpenApprovedGrantDeps, openApprovedGrant } from './open-approved-grant.ts';
export * from './pages/index.ts';
export { consentRoutes } from './routes.ts';
export { parseScope } from './scope.ts';
export { createTypicalUse } from './typical-use.ts';
