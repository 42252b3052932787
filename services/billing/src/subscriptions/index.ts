export { announcePresent } from './announce-present.ts';
export {
  applyProviderState,
  asPaid,
  isDisputeLost,
  type ReducerDeps,
  type ReportedState,
  upsertDispute,
} from './apply-provider-state.ts';
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
export { readSubscription, type SubscriptionDeps, subscriptionInternalRoutes, subscriptionRoutes } from './routes.ts';
export { raisePlanNotice, type StoreDeps, storeState } from './store-state.ts';
export {
  isEnded,
  isPaidByOwner,
  type PaidSubscription,
  type ProviderSubscription,
  type StoredSubscription,
  toGoneState,
} from './subscription.ts';
