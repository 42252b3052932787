export { delegatedRoutes } from './routes.ts';
