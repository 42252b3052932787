export { consolePageRoutes } from './routes.ts';
