export { refuseUnknownPushedRequest } from './authorize-page.ts';
export { readBudgetProposal } from './authorize-request.ts';
export { deleteDeniedFormsBefore } from './decide-consent.ts';
export { askedDeviceSchema } from './device-page.ts';
export { devicePageRoutes } from './device-routes.ts';
export { createTypicalUse } from './get-consent.ts';
export { askedQuerySchema, createPushedMarks, type PagesDeps } from './page-context.ts';
export { pageRoutes } from './page-routes.ts';
export { consentRoutes } from './routes.ts';
