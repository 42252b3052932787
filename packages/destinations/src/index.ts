export { type CheckedDestination, checkDestination, type Lookup } from './check-destination.ts';
export {
  type AllowTargets,
  DestinationError,
  type DestinationFault,
  parseAllowTargets,
  parseDestination,
} from './destination.ts';
export { createPinnedAgent, type PinnedAgent } from './pinned-agent.ts';
export { AnswerUnfinished, type CachingHeaders } from './pinned-connection.ts';
export { isPublicAddress } from './public-address.ts';
export { createSystemLookup } from './system-lookup.ts';
