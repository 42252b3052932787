import type { Pace } from '../events/index.ts';

/** Slots for the lanes of a process, so that receivers that hang use up only their own share. */
export interface Slots {
  /** Returns the number of lanes of each pace that may be claimed now. */
  readonly free: () => Record<Pace, number>;
  readonly take: (pace: Pace) => Slot;
  /** Takes a slot for a prompt receiver's lane, if one is free. */
  readonly takePrompt: () => Slot | undefined;
  readonly inUse: () => number;
}

export interface Slot {
  readonly isSlow: () => boolean;
  /** Frees the slot for other lanes while the attempt hangs. */
  readonly becomeSlow: () => void;
  readonly release: () => void;
}

/** Shares of the slots of prompt receivers. Unknown receivers may all hang; slow ones cost a socket and little else. */
const SHARES: Readonly<Record<Pace, number>> = { prompt: 1, unknown: 0.5, slow: 2 };
/** Share of attempts that became slow. At this number no lane of an unknown receiver is claimed. */
const TURNED_SHARE = 14;
/** Lanes of one pace in one claim. Further claims follow if more are due. */
const CLAIM_MAX: Readonly<Record<Pace, number>> = {
  prompt: 200,
  // Each may need a new connection, and many handshakes at once would delay all other answers.
  unknown: 16,
  slow: 16,
};

/** Creates the slots of a process. Calls `onFree` when a slot becomes free for another lane. */
export const createSlots = ({ slots }: { readonly slots: number }, onFree: () => void): Slots => {
  const counts = { prompt: 0, unknown: 0, slow: 0, turned: 0 };
  const freeOf = (pace: Pace): number => {
    if (pace === 'unknown' && counts.turned >= slots * TURNED_SHARE) return 0;
    return Math.max(0, Math.min(Math.ceil(slots * SHARES[pace]) - counts[pace], CLAIM_MAX[pace]));
  };
  const take = (pace: Pace): Slot => {
    let place: keyof typeof counts = pace;
    counts[place] += 1;
    return {
      isSlow: () => place === 'slow' || place === 'turned',
      becomeSlow() {
        if (place === 'slow' || place === 'turned') return;
        counts[place] -= 1;
        place = 'turned';
        counts.turned += 1;
        onFree();
      },
      release() {
        counts[place] -= 1;
        onFree();
      },
    };
  };
  return {
    free: () => ({ prompt: freeOf('prompt'), unknown: freeOf('unknown'), slow: freeOf('slow') }),
    inUse: () => counts.prompt + counts.unknown + counts.slow + counts.turned,
    take,
    takePrompt: () => (freeOf('prompt') > 0 ? take('prompt') : undefined),
  };
};
