export { announceErasures, type EraseAgainDeps, eraseAgain } from './erase-again.ts';
export { erasureRoutes } from './routes.ts';
export { startErasures } from './run-erasures.ts';
export { type ScheduleErasureDeps, scheduleErasure } from './schedule-erasure.ts';
