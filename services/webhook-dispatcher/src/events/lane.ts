import type { EventContent } from './event.ts';

/**
 * Speed of a lane's receiver at its last attempt: soon (prompt), late or not at all (slow). Unknown in a new generation, and
 * after the first late answer of a prompt receiver. Lanes of each pace have slots of their own in a worker, so receivers that
 * hang do not delay the others.
 */
export type Pace = 'prompt' | 'unknown' | 'slow';

/** A lane that this process may work on until its lease ends. */
export interface ClaimedLane {
  readonly ownerId: string;
  readonly generation: number;
  readonly sequence: number;
  readonly leaseToken: number;
  readonly pace: Pace;
  /** Grows with each rotation of the signing secret. */
  readonly secretVersion: number;
}

export interface Claim {
  readonly lane: ClaimedLane;
  /** The lane's next event, unless it was stored too recently for the claim to see it. */
  readonly content: EventContent | undefined;
}

/** Longer than an attempt (10 s) with its write-back. Another worker takes over the lanes of a dead one after it. */
export const LEASE_MS = 15_000;
/**
 * Age up to which a lease is not renewed when its lane goes on: an unchanged `due_at` leaves the index alone, which saves an
 * index entry for each delivery.
 */
export const LEASE_RENEWED_AFTER_MS = 1_000;

export const LEASE = `interval '${LEASE_MS} milliseconds'`;
