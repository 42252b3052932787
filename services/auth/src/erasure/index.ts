export { erasureRoutes } from './routes.ts';
export { announceErasures, eraseAgain, startErasures } from './run-erasures.ts';
export { type ScheduleErasureDeps, scheduleErasure } from './schedule-erasure.ts';
