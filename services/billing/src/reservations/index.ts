export type { AdmissionDeps } from './admit-request.ts';
export { startUsageConsumer } from './consumer.ts';
export { createReservationMeters, type ReservationMeters } from './meters.ts';
export { reservationOperatorRoutes } from './operator-routes.ts';
export {
  type AccountEntitlement,
  type DayUse,
  entitleAccount,
  findRequestByOwner,
  listDayUse,
  listRequestStates,
} from './queries.ts';
export { type AccountStanding, NO_SERVICES, readStanding, type WindowUse } from './read-standing.ts';
export type { RequestRecord } from './reservation.ts';
export { openReservationBorder, type ReservationBorder } from './routes.ts';
export type { SettlementDeps } from './settle-requests.ts';
export { type SweepSettings, sweepReservations } from './sweep-reservations.ts';
export { monthlyAnniversary, type Window } from './windows.ts';
