export { type AttemptSubject, type AttemptThrottle, createAttemptThrottle } from './attempt-throttle.ts';
export { deleteAttemptsBefore } from './queries.ts';
export { createSignUpLimit, type SignUpLimit } from './sign-up-limit.ts';
