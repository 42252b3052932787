import { bindToProcess, currentProcess, type SimulatedProcess } from './simulated-process.ts';

/** The functions of the real event loop, kept before the simulation replaces the globals. */
const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;
const realSetImmediate = globalThis.setImmediate;
const realPerformanceNow = performance.now.bind(performance);

/** Waits in real time, for answers of PostgreSQL. */
export const realSleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    realSetTimeout(resolve, milliseconds);
  });

/** Calls back in real time, unless it is cleared before. */
export const realTimer = (milliseconds: number, callback: () => void): { readonly clear: () => void } => {
  const timer = realSetTimeout(callback, milliseconds);
  return { clear: () => realClearTimeout(timer) };
};

/** Resolves after all microtasks and `process.nextTick` callbacks have run. */
export const realTurn = (): Promise<void> =>
  new Promise((resolve) => {
    realSetImmediate(resolve);
  });

/** Monotonic real time, for figures and for the deadline of a step. */
export const realNowMs = (): number => realPerformanceNow();

/** First moment of every simulation, later than the real time, because ids made before must sort first. */
const BEGIN_MS = Date.UTC(2031, 0, 6, 9, 0, 0);

/** Work that is due at a virtual moment. */
export interface TimedEvent {
  readonly dueMs: number;
  readonly label: string;
  /** Keeps the order of events that are due at the same moment. */
  readonly order: number;
  readonly run: () => void;
  /** Process to which it belongs, and with which it ends. */
  readonly owner: SimulatedProcess | undefined;
  isCancelled: boolean;
}

/** The clock of the simulation, with the events that are due in its future. It moves only when the scheduler moves it. */
export interface VirtualTime {
  readonly nowMs: () => number;
  /** Milliseconds since the simulation began. */
  readonly elapsedMs: () => number;
  readonly advance: (milliseconds: number) => void;
  /** Schedules a callback that belongs to the running process. */
  readonly schedule: (delayMs: number, label: string, callback: () => void) => TimedEvent;
  /** Returns the next event, which stays scheduled. */
  readonly peek: () => TimedEvent | undefined;
  /** Moves the clock to the next event and runs it. Returns false if there is none. */
  readonly runNext: () => TimedEvent | undefined;
}

export const createVirtualTime = (): VirtualTime => {
  const heap: TimedEvent[] = [];
  let nowMs = BEGIN_MS;
  let order = 0;
  const moveTo = (to: number): void => {
    nowMs = Math.max(nowMs, to);
  };
  const peek = (): TimedEvent | undefined => {
    while (heap[0]?.isCancelled === true || heap[0]?.owner?.isAlive === false) pop(heap);
    return heap[0];
  };
  return {
    nowMs: () => nowMs,
    elapsedMs: () => nowMs - BEGIN_MS,
    advance: (milliseconds) => moveTo(nowMs + milliseconds),
    schedule: (delayMs, label, callback) => {
      order += 1;
      const dueMs = nowMs + Math.max(0, delayMs);
      const event: TimedEvent = {
        dueMs,
        label,
        order,
        run: bindToProcess(callback),
        owner: currentProcess(),
        isCancelled: false,
      };
      push(heap, event);
      return event;
    },
    peek,
    runNext: () => {
      const event = peek();
      if (event === undefined) return undefined;
      pop(heap);
      moveTo(event.dueMs);
      event.run();
      return event;
    },
  };
};

const isBefore = (one: TimedEvent, other: TimedEvent): boolean =>
  one.dueMs === other.dueMs ? one.order < other.order : one.dueMs < other.dueMs;

const push = (heap: TimedEvent[], event: TimedEvent): void => {
  let place = heap.push(event) - 1;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(event, above)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = event;
};

const pop = (heap: TimedEvent[]): void => {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (;;) {
    const left = heap[2 * place + 1];
    const right = heap[2 * place + 2];
    if (left === undefined) break;
    const isRight = right !== undefined && isBefore(right, left);
    const least = isRight ? right : left;
    if (!isBefore(least, last)) break;
    heap[place] = least;
    place = 2 * place + (isRight ? 2 : 1);
  }
  heap[place] = last;
};
