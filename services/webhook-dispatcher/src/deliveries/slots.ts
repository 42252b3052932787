import type { Pace } from '../events/index.ts';

/** Counts the lanes under way in a process, so that receivers that hang use up their own share only. */
export interface Slots {
  /** Lanes of each pace that may be claimed now. */
  free(): Record<Pace, number>;
  /** Takes a place for a lane. */
  take(pace: Pace): Slot;
  /** Lanes under way. */
  inUse(): number;
}

/** One lane's place. */
export interface Slot {
  pace(): Pace;
  /** The attempt hangs: from now on it counts among the slow, and its place is free for others. */
  becomeSlow(): void;
  release(): void;
}

/** Parts of the places for prompt receivers. Those of unknown pace may all hang; slow ones cost a socket and little else. */
const SHARES: Readonly<Record<Pace, number>> = { prompt: 1, unknown: 0.5, slow: 2 };
/** All together, with those that turned out to be slow only after they had begun: a bound for sockets, seldom reached. */
const TOTAL_SHARE = 16;
/** Lanes of one pace in one claim; several claims follow each other when more are due. */
const CLAIM_MAX = 200;

/** Makes the places of one process. `onFree` is called when one for others has become free. */
export function createSlots({ slots }: { readonly slots: number }, onFree: () => void): Slots {
  const counts: Record<Pace, number> = { prompt: 0, unknown: 0, slow: 0 };
  const inUse = () => counts.prompt + counts.unknown + counts.slow;
  const freeOf = (pace: Pace): number => {
    const own = Math.ceil(slots * SHARES[pace]) - counts[pace];
    return Math.max(0, Math.min(own, slots * TOTAL_SHARE - inUse(), CLAIM_MAX));
  };
  return {
    free: () => ({ prompt: freeOf('prompt'), unknown: freeOf('unknown'), slow: freeOf('slow') }),
    inUse,
    take(claimed) {
      let pace = claimed;
      counts[pace] += 1;
      return {
        pace: () => pace,
        becomeSlow() {
          if (pace === 'slow') return;
          counts[pace] -= 1;
          pace = 'slow';
          counts.slow += 1;
          onFree();
        },
        release() {
          counts[pace] -= 1;
          onFree();
        },
      };
    },
  };
}
