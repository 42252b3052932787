export { countDeferredItems, forgetFailures, listDeferredItems, whereDue } from './deferred-items.ts';
export { type Job, UnreadableObject, type Work } from './job.ts';
export { createJobMeters, type JobMeters } from './meters.ts';
export { type JobDeps, putBack, reasonOf, runItems } from './run-items.ts';
