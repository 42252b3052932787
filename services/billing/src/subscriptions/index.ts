export { applyProviderState, type ReducerDeps, type ReducerOutcome } from './apply-provider-state.ts';
export { findLiveSubscription, findSubscriptionById, isCustomer, lockCustomer, nextProviderTicket } from './queries.ts';
export { readSubscription } from './read-subscription.ts';
export { subscriptionInternalRoutes, subscriptionRoutes } from './routes.ts';
export { isEnded, type ProviderName, type ProviderSubscription, type StoredSubscription } from './subscription.ts';
