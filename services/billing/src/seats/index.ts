export { applyOrderState, type OrderOutcome } from './apply-order-state.ts';
export { endSeatOfErased, followOrder, type SeatDeps, startMembershipConsumer } from './assign-seat.ts';
export {
  countSeats,
  findLiveOrder,
  findOrder,
  findOrderByProvider,
  listLiveOrders,
  listLiveOrdersOf,
  listSilentOrders,
  listWaitingOrders,
  lockSeats,
  updateAppliedChanges,
  updateCancelledByDeletion,
  updateWantedQuantity,
  withdrawChange,
} from './queries.ts';
export { listSeats, seatInternalRoutes, seatRoutes } from './routes.ts';
export type { StoredOrder } from './seat-order.ts';
