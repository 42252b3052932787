export { accountOperationRoutes } from './routes.ts';
