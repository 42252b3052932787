export { announcePresent } from './announce-present.ts';
export { applyProviderState, asPaid, type ReducerDeps, type ReportedState } from './apply-provider-state.ts';
export { isDisputeLost, upsertDispute } from './dispute-queries.ts';
export {
  countCustomers,
  findLiveSubscription,
  findSubscriptionById,
  findSubscriptionByProvider,
  isCustomer,
  listLiveSubscriptions,
  listSilentSubscriptions,
  lockCustomer,
  nextProviderTicket,
  readNow,
} from './queries.ts';
export { raisePlanNotice } from './raise-plan-notice.ts';
export { readSubscription, type SubscriptionDeps } from './read-subscription.ts';
export { subscriptionInternalRoutes, subscriptionRoutes } from './routes.ts';
export { type StoreDeps, storeState } from './store-state.ts';
export {
  isEnded,
  isPaidByOwner,
  type PaidSubscription,
  type ProviderSubscription,
  type StoredSubscription,
  toGoneState,
} from './subscription.ts';
