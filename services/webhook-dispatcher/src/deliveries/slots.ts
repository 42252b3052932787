/** How many attempts a process makes at one time. */
export interface SlotLimits {
  /** Attempts that are not known to be slow. */
  readonly slots: number;
}

/** Counts attempts under way, so that receivers that hang use up their own share only. */
export interface Slots {
  /** Lanes that may be claimed now. */
  free(kind: 'prompt' | 'slow'): number;
  /** Takes a slot for a lane. */
  take(isSlow: boolean): Slot;
  /** Lanes under way. */
  inUse(): number;
}

/** One lane's place. */
export interface Slot {
  readonly isSlow: boolean;
  /** The attempt hangs: from now on it counts among the slow, and its place is free for others. */
  becomeSlow(): void;
  release(): void;
}

/** Lanes whose last attempt was slow may use this many times the ordinary slots: they cost a socket and little else. */
const SLOW_SHARE = 2;
/** All together, with those that turned out to be slow only after they had begun. */
const TOTAL_SHARE = 8;

/** Makes the slots of one process. `onFree` is called when a place for others has become free. */
export function createSlots({ slots }: SlotLimits, onFree: () => void): Slots {
  const counts = { prompt: 0, slow: 0 };
  const spare = () => slots * TOTAL_SHARE - counts.prompt - counts.slow;
  return {
    free: (kind) =>
      Math.max(0, Math.min(spare(), kind === 'prompt' ? slots - counts.prompt : slots * SLOW_SHARE - counts.slow)),
    inUse: () => counts.prompt + counts.slow,
    take(isSlow) {
      let kind: 'prompt' | 'slow' = isSlow ? 'slow' : 'prompt';
      counts[kind] += 1;
      return {
        get isSlow() {
          return kind === 'slow';
        },
        becomeSlow() {
          if (kind === 'slow') return;
          kind = 'slow';
          counts.prompt -= 1;
          counts.slow += 1;
          onFree();
        },
        release() {
          counts[kind] -= 1;
          onFree();
        },
      };
    },
  };
}
