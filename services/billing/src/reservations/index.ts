export type { AdmissionDeps } from './admit-request.ts';
export { startUsageConsumer } from './consumer.ts';
export { endHeldRequests, endRestoredRequests, HELD_BATCH, listHolders } from './end-held-requests.ts';
export { createReservationMeters, type ReservationMeters } from './meters.ts';
export {
  type AccountEntitlement,
  type AccountStanding,
  entitleAccount,
  NO_SERVICES,
  readStanding,
  type WindowUse,
} from './read-standing.ts';
export { type DayUse, findRequestByOwner, listDayUse, listForReceipts } from './request-queries.ts';
export type { RequestRecord, SettledReservation } from './reservation.ts';
export { reservationOperatorRoutes, reservationRoutes } from './routes.ts';
export type { SettlementDeps } from './settle-requests.ts';
export { type SweepSettings, sweepReservations } from './sweep-reservations.ts';
export { unadmittedOperatorRoutes } from './unadmitted-routes.ts';
