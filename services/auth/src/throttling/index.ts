export { type AttemptSubject, type AttemptThrottle, createAttemptThrottle } from './attempt-throttle.ts';
export { createGuessLimit, type GuessLimit } from './guess-limit.ts';
export { deleteAttemptsBefore } from './queries.ts';
export { createSourceLimit, type SourceLimit } from './source-limit.ts';
