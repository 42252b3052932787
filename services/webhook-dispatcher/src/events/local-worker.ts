import type { Claim } from './lane-queries.ts';

/** The worker of this process, as those who store events know it. */
export interface LocalWorker {
  /** A place for one more lane whose receiver answers soon; undefined when all are taken. */
  reserve(): Reservation | undefined;
  /** Lanes have become due that nobody has taken yet, here or in another replica. */
  hint(): void;
}

/** A place that is kept; either of its ends is to be called, once. */
export interface Reservation {
  /** Works on a lane that was leased to this process; the time is on its own clock, from before the lease was asked for. */
  begin(claimed: { readonly claim: Claim; readonly claimedAtMs: number }): void;
  release(): void;
}
