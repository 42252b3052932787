export { type AttemptThrottle, createAttemptThrottle } from './attempt-throttle.ts';
export { deleteAttemptsBefore } from './queries.ts';
