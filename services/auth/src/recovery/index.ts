export { recoveryRoutes } from './routes.ts';
export { startResets } from './run-resets.ts';
