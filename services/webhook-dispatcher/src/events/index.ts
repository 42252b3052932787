export type { EventContent, EventDraft } from './event.ts';
export {
  beginGeneration,
  type Claim,
  type ClaimedLane,
  claimDueLanes,
  deleteLane,
  findLaneBlock,
  type LaneBlock,
  LEASE_MS,
  LEASE_RENEWED_AFTER_MS,
  type Pace,
  raiseSecretVersion,
  releaseLanes,
  turnLaneOff,
} from './lanes.ts';
export { findLaneHealth, laneOperatorRoutes } from './operator-routes.ts';
export { EVENT_STATUS, listQueuedContents } from './queries.ts';
export { type AttemptOutcome, type RecordedOutcome, recordOutcomes } from './record-outcomes.ts';
export { recoverEvent } from './recover-event.ts';
export { eventRoutes } from './routes.ts';
export { deleteEventsOfOwner, startEventPruning } from './start-event-pruning.ts';
export { mailLaneAlarms, startLaneAlarms } from './start-lane-alarms.ts';
export { type LocalWorker, type StoreDeps, storeEvents } from './store-events.ts';
