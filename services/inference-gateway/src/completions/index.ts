export type { AnswerShape, RoutedAnswer, ShapedAnswer, ShapedStream } from './answer-shape.ts';
export { type CompletionMeters, createCompletionMeters } from './completion-meters.ts';
export { affordableOutput, holdOf, outputTokensOf } from './hold-tokens.ts';
export { type CompletionRequest, readRequest } from './read-request.ts';
export { type FailureAnswer, serveCompletion } from './serve-completion.ts';
export { costSoFar } from './usage-so-far.ts';
