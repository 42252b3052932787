export { type AttemptSubject, type AttemptThrottle, createAttemptThrottle } from './attempt-throttle.ts';
export { deleteAttemptsBefore } from './queries.ts';
export { createSourceLimit, type SourceLimit } from './source-limit.ts';
