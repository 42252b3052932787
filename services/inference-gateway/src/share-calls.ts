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

/**
 * Lets what comes while calls are under way share the next one; what comes alone goes at once. Answers false, and keeps
 * nothing, where too many wait.
 */
export const shareCalls = <T>({ make, membersMax }: SharingOptions<T>): ((member: T) => boolean) => {
  const waiting: T[] = [];
  let places = PLACES;
  let isWoken = false;

  const start = (): void => {
    isWoken = false;
    while (places > 0 && waiting.length > 0) {
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
    // What is read from other connections in the same turn of the event loop shares the call.
    if (!isWoken && places > 0) {
      isWoken = true;
      setImmediate(start);
    }
    return true;
  };
};
