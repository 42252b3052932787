export { deleteEventsOfOwner } from './deletion-queries.ts';
export type { EventContent, EventDraft } from './event.ts';
export { type Claim, type ClaimedLane, LEASE_MS, LEASE_RENEWED_AFTER_MS, type Pace } from './lane.ts';
export { findLaneHealth } from './lane-health.ts';
export {
  beginGeneration,
  claimDueLanes,
  deleteLane,
  findLaneBlock,
  type LaneBlock,
  raiseSecretVersion,
  releaseLanes,
  turnLaneOff,
} from './lane-queries.ts';
export { laneOperatorRoutes } from './operator-routes.ts';
export { EVENT_STATUS, listQueuedContents } from './queries.ts';
export { type AttemptOutcome, type RecordedOutcome, recordOutcomes } from './record-outcomes.ts';
export { recoverEvent } from './recover-event.ts';
export { eventRoutes } from './routes.ts';
export { startEventPruning } from './start-event-pruning.ts';
export { mailLaneAlarms, startLaneAlarms } from './start-lane-alarms.ts';
export { type LocalWorker, type StoreDeps, storeEvents } from './store-events.ts';
