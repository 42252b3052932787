export { type FailureReason, UpstreamFailure, type WireError } from './upstream-failure.ts';
