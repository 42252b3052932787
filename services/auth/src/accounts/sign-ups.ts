import { type BoundedQueue, createBoundedQueue } from '../bounded-queue.ts';
import type { SourceLimit } from '../throttling/index.ts';
import { createPasswordHasher, type PasswordHasher } from './password-hasher.ts';

/** Waiting sign-ups: about ten seconds of work. */
const WAITING_MAX = 256;

/** Separates sign-ups from sign-ins, so that a burst of sign-ups does not delay people who sign in. */
export interface SignUps {
  readonly limit: SourceLimit;
  /** Runs one sign-up at a time, from first to last query. */
  readonly queue: BoundedQueue;
  /** Hashes on a thread that sign-ins do not use. */
  readonly passwords: PasswordHasher;
}

/** Creates the queue and hasher of sign-ups. */
export const createSignUps = async (limit: SourceLimit): Promise<SignUps> => ({
  limit,
  queue: createBoundedQueue({
    runningMax: 1,
    waitingMax: WAITING_MAX,
    refusal: 'Too many people are signing up. Try again in a moment.',
  }),
  passwords: await createPasswordHasher(1),
});
