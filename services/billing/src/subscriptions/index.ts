export { announcePresent } from './announce-present.ts';
export { applyProviderState, type ReducerDeps, type ReducerOutcome } from './apply-provider-state.ts';
export {
  findLiveSubscription,
  findSubscriptionById,
  findSubscriptionByProvider,
  isCustomer,
  listSilentSubscriptions,
  lockCustomer,
  nextProviderTicket,
} from './queries.ts';
export { readSubscription } from './read-subscription.ts';
export { subscriptionInternalRoutes, subscriptionRoutes } from './routes.ts';
export type { ProviderName, ProviderSubscription, StoredSubscription } from './subscription.ts';
