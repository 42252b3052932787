/** How calls are shared. */
export interface SharingOptions<T> {
  /** Makes one call for all of these, in the order in which they came. Must not reject. */
  readonly make: (members: readonly T[]) => Promise<void>;
  /** Members of one call. */
  readonly membersMax: number;
}

/** Calls that keep others waiting: one is under way while the answer to the other is read. */
const PLACES = 2;
/** A call that takes longer keeps nobody waiting any more: one slow member must not hold up everybody. */
const PLACE_MS = 25;
/** Members that may wait. A backlog of so many is under way within a second, whatever becomes of the calls before. */
const WAITING_MAX = 4_096;
/** More members than these within RATE_MS are a crowd: then a call costs more than its members wait for one another. */
const CROWD_MIN = 64;
const RATE_MS = 100;
/** In a crowd, calls begin so far apart. */
const GATHER_MS = 8;
/** In a crowd, a call of so many waits for no more. */
const GATHER_ENOUGH = 16;

/**
 * Lets what comes while calls are under way share the next one; what comes alone goes at once. Where many come one after the
 * other, calls also begin a little apart, so that each has more members: two processes, a transaction and a commit cost as much
 * for one as for many. Answers false, and keeps nothing, where too many wait.
 */
export const shareCalls = <T>({ make, membersMax }: SharingOptions<T>): ((member: T) => boolean) => {
  const waiting: T[] = [];
  const crowd = createCrowdMeter();
  let places = PLACES;
  let isWoken = false;
  let begunAtMs = Number.NEGATIVE_INFINITY;
  let gathering: NodeJS.Timeout | undefined;

  /** Milliseconds for which the next call waits for more members. */
  const toGatherMs = (nowMs: number): number =>
    waiting.length < GATHER_ENOUGH && crowd.isThere(nowMs) ? begunAtMs + GATHER_MS - nowMs : 0;

  const start = (): void => {
    isWoken = false;
    clearTimeout(gathering);
    gathering = undefined;
    while (places > 0 && waiting.length > 0) {
      const nowMs = performance.now();
      const waitMs = toGatherMs(nowMs);
      if (waitMs > 0) {
        gathering = setTimeout(start, Math.ceil(waitMs));
        return;
      }
      begunAtMs = nowMs;
      places -= 1;
      let hasLeft = false;
      const leave = (): void => {
        if (hasLeft) return;
        hasLeft = true;
        clearTimeout(timer);
        places += 1;
        start();
      };
      const timer = setTimeout(leave, PLACE_MS);
      void make(waiting.splice(0, membersMax)).finally(leave);
    }
  };
  return (member) => {
    if (waiting.length >= WAITING_MAX) return false;
    waiting.push(member);
    crowd.add(performance.now());
    // What is read from other connections in the same turn of the event loop shares the call.
    if (!isWoken && places > 0 && (gathering === undefined || waiting.length >= GATHER_ENOUGH)) {
      isWoken = true;
      setImmediate(start);
    }
    return true;
  };
};

/** Tells whether many come: counts those of this stretch of time and of the one before. */
const createCrowdMeter = (): { add(nowMs: number): void; isThere(nowMs: number): boolean } => {
  let [stretch, count, countBefore] = [0, 0, 0];
  const moveTo = (nowMs: number): void => {
    const current = Math.floor(nowMs / RATE_MS);
    if (current === stretch) return;
    countBefore = current === stretch + 1 ? count : 0;
    [stretch, count] = [current, 0];
  };
  return {
    add: (nowMs) => {
      moveTo(nowMs);
      count += 1;
    },
    isThere: (nowMs) => {
      moveTo(nowMs);
      return count > CROWD_MIN || countBefore > CROWD_MIN;
    },
  };
};
