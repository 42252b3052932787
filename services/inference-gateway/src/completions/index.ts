export type { AnswerShape, RoutedAnswer, ShapedAnswer, ShapedStream, UpstreamNames } from './answer-shape.ts';
export { type CompletionMeters, createCompletionMeters } from './completion-meters.ts';
export { type CompletionRequest, type RequestSource, readRequest, receiveRequest } from './read-request.ts';
export { affordableOutput, costSoFar, holdOf, holdTokens, outputTokensOf, usageSoFar } from './request-cost.ts';
export { type FailureAnswer, serveCompletion } from './serve-completion.ts';
