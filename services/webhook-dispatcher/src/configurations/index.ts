export { createDeliveryTargets, type DeliveryTarget, type DeliveryTargets } from './delivery-targets.ts';
export { deleteConfiguration, listConfigurations } from './queries.ts';
export { configurationRoutes } from './routes.ts';
export { signingSecretUse } from './signing-secrets.ts';
