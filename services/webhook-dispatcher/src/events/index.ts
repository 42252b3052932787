export { beginGeneration } from './begin-generation.ts';
export type { EventDraft, EventName, EventRecord, LastAttempt, StoredEvent } from './event.ts';
export {
  type Claim,
  type ClaimedLane,
  claimDueLanes,
  deleteLane,
  findBlockingEventId,
  findLaneHealth,
  LEASE_MS,
  LEASE_RENEWED_AFTER_MS,
  type Pace,
  releaseLanes,
} from './lane-queries.ts';
export type { LocalWorker } from './local-worker.ts';
export { laneOperatorRoutes } from './operator-routes.ts';
export { deleteEvents, type EventContent, listQueuedContents } from './queries.ts';
export { type AttemptOutcome, type RecordedOutcome, recordOutcomes } from './record-outcomes.ts';
export { recoverEvent } from './recover-event.ts';
export { type EventRoutesDeps, eventRoutes } from './routes.ts';
export { startEventPruning } from './start-event-pruning.ts';
export { type StoreDeps, storeEvents } from './store-events.ts';
