export { inferenceRoutes } from './inference-routes.ts';
