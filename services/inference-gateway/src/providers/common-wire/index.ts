export { collectBody } from './collect-body.ts';
export { createDispatcher } from './create-dispatcher.ts';
export {
  openUpstream,
  type UpstreamAnswer,
  type UpstreamLimits,
  type UpstreamRequest,
  type UpstreamSink,
} from './open-upstream.ts';
export { readRefusal } from './read-refusal.ts';
export { type FailureReason, UpstreamFailure, type WireError } from './upstream-failure.ts';
