export { deleteConfiguration, listConfigurations } from './configuration.ts';
export {
  createDeliveryTargets,
  type DeliveryTarget,
  type DeliveryTargets,
  signingSecretUse,
} from './delivery-targets.ts';
export { configurationRoutes } from './routes.ts';
