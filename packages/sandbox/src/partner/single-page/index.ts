export { singlePageRoutes } from './single-page-routes.ts';
