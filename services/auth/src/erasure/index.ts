export { erasureRoutes } from './routes.ts';
export { startErasures } from './run-erasures.ts';
