export type { AnswerShape, RoutedAnswer, ShapedAnswer, ShapedStream, UpstreamNames } from './answer-shape.ts';
export { type CompletionMeters, createCompletionMeters } from './completion-meters.ts';
export { affordableOutput, holdOf, holdTokens, outputTokensOf } from './hold-tokens.ts';
export { type CompletionRequest, type RequestSource, readRequest, receiveRequest } from './read-request.ts';
export { type FailureAnswer, serveCompletion } from './serve-completion.ts';
export { costSoFar, usageSoFar } from './usage-so-far.ts';
