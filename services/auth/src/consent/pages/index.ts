export { createFormTokens } from './form-token.ts';
export { pageRoutes } from './page-routes.ts';
export { createPushedMarks } from './pushed-mark.ts';
export { refuseUnknownPushedRequest } from './show-authorize-page.ts';
