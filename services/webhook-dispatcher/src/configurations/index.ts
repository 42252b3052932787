export { deleteConfiguration } from './delete-configuration.ts';
export { createDeliveryTargets, type DeliveryTarget, type DeliveryTargets } from './delivery-targets.ts';
export { configurationOperatorRoutes } from './operator-routes.ts';
export { configurationRoutes } from './routes.ts';
