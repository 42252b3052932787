export { BROKEN_STREAM_ERROR, type FailureResponse, failWith, NO_RETRY, toCallerError } from './failure-response.ts';
export { forwardRequest } from './forward-request.ts';
export type { ForwardingDeps } from './forwarding-deps.ts';
export { createForwardingMeters, type ForwardingMeters } from './forwarding-deps.ts';
export { requireRoom } from './in-flight.ts';
export { type HeldRequest, type RequestSource, readRequest, receiveRequest } from './read-request.ts';
export {
  affordableOutput,
  canBeFitted,
  costSoFar,
  FITTED_TOKENS_MIN,
  holdOf,
  holdTokens,
  outputTokensOf,
  ownOutputLimit,
  type RequestBounds,
  usageSoFar,
} from './request-cost.ts';
export type {
  ResponseReader,
  ResponseShape,
  RoutedResponse,
  ShapedResponse,
  ShapedStream,
  UpstreamNames,
} from './response-shape.ts';
export { sendJsonText } from './send-json.ts';
