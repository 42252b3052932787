import { type BoundedQueue, createBoundedQueue } from '../bounded-queue.ts';
import type { SourceLimit } from '../throttling/index.ts';
import { createPasswordHasher, type PasswordHasher } from './password-hasher.ts';

/** Sign-ups that may wait: about ten seconds of work. */
const WAITING_MAX = 256;

/** Keeps sign-ups apart from sign-ins, so that no crowd of new accounts delays a person who signs in. */
export interface SignUps {
  readonly limit: SourceLimit;
  /** Runs one sign-up at a time, from its first query to its last. */
  readonly queue: BoundedQueue;
  /** Hashes on a thread that sign-ins do not use. */
  readonly passwords: PasswordHasher;
}

/** Creates the lane of sign-ups. */
export const createSignUps = async (limit: SourceLimit): Promise<SignUps> => ({
  limit,
  queue: createBoundedQueue({
    runningMax: 1,
    waitingMax: WAITING_MAX,
    refusal: 'Too many people are signing up. Try again in a moment.',
  }),
  passwords: await createPasswordHasher(1),
});
