export { announcePresent } from './announce-present.ts';
export { applyProviderState, type ReducerDeps } from './apply-provider-state.ts';
export { isDisputeLost, upsertDispute } from './dispute-queries.ts';
export {
  countCustomers,
  findLiveSubscription,
  findSubscriptionByProvider,
  isCustomer,
  listLiveSubscriptions,
  listSilentSubscriptions,
  lockCustomer,
  nextProviderTicket,
  readNow,
} from './queries.ts';
export { readSubscription } from './read-subscription.ts';
export { subscriptionInternalRoutes, subscriptionRoutes } from './routes.ts';
export {
  isEnded,
  type ProviderSubscription,
  type StoredSubscription,
  toGoneState,
} from './subscription.ts';
