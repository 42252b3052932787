export type {
  AnswerReader,
  AnswerShape,
  RoutedAnswer,
  ShapedAnswer,
  ShapedStream,
  UpstreamNames,
} from './answer-shape.ts';
export { type CompletionMeters, createCompletionMeters } from './completion-meters.ts';
export { type CompletionRequest, type RequestSource, readRequest, receiveRequest } from './read-request.ts';
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
export { type FailureAnswer, serveCompletion } from './serve-completion.ts';
