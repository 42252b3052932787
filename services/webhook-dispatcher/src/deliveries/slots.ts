import type { Pace } from '../events/index.ts';

/** Counts the lanes under way in a process, so that receivers that hang use up their own share only. */
export interface Slots {
  /** Lanes of each pace that may be claimed now. */
  free(): Record<Pace, number>;
  /** Takes a place for a lane that was claimed within what `free` allowed. */
  take(pace: Pace): Slot;
  /** Takes a place among the prompt; undefined when none is free. */
  takePrompt(): Slot | undefined;
  /** Lanes under way. */
  inUse(): number;
}

/** One lane's place. */
export interface Slot {
  isSlow(): boolean;
  /** The attempt hangs: its place is free for others from now on. */
  becomeSlow(): void;
  release(): void;
}

/** Parts of the places for prompt receivers. Those of unknown pace may all hang; slow ones cost a socket and little else. */
const SHARES: Readonly<Record<Pace, number>> = { prompt: 1, unknown: 0.5, slow: 2 };
/** Those that turned out to be slow after they had begun: when so many are, nobody of unknown pace is begun. */
const TURNED_SHARE = 14;
/** Lanes of one pace in one claim; several claims follow each other when more are due. */
const CLAIM_MAX: Readonly<Record<Pace, number>> = {
  prompt: 200,
  // Each may be a new connection: the handshakes of many at once would hold up the answers of all others.
  unknown: 16,
  slow: 16,
};

/** Makes the places of one process. `onFree` is called when one for others has become free. */
export const createSlots = ({ slots }: { readonly slots: number }, onFree: () => void): Slots => {
  const counts = { prompt: 0, unknown: 0, slow: 0, turned: 0 };
  const freeOf = (pace: Pace): number => {
    // The places of prompt and slow receivers are theirs, whatever the others do.
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
