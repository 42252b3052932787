/** Waiting items of one key, in order of arrival. */
export interface Queue<T> {
  readonly key: string;
  readonly items: T[];
  /** True while an item of this queue is being processed; the others wait until it is given back. */
  isTaken: boolean;
}

/** Taken items by their queue. */
export type Taken<T> = ReadonlyMap<Queue<T>, readonly T[]>;

/** Queues by key that take turns. A taken queue gets its next turn after it is given back. */
export interface KeyedQueues<T> {
  /** Waiting items in all queues. */
  readonly size: () => number;
  readonly of: (key: string) => Queue<T>;
  readonly add: (queue: Queue<T>, item: T) => void;
  /** Returns true if a queue is waiting whose first item may share a batch. */
  readonly hasTurns: () => boolean;
  /** Takes the first queue alone if it is long, otherwise whole queues until the batch is full. */
  readonly takeBatch: (itemsMax: number) => Taken<T>;
  /** Takes the first item that must run alone, if one is waiting. */
  readonly takeAlone: () => Taken<T> | undefined;
  /** Ends the work on a queue and puts items back at its front. */
  readonly giveBack: (queue: Queue<T>, items: readonly T[]) => void;
  /** Returns the items of all queues that are not taken. */
  readonly waiting: () => readonly T[];
  /** Removes waiting items. */
  readonly discard: (isGone: (item: T) => boolean) => void;
}

/** Minimum waiting items for a key to get a batch to itself. */
const CROWD_MIN = 3;

export const createKeyedQueues = <T>({
  isAlone,
}: {
  /** Returns true if an item must run alone. */
  readonly isAlone: (item: T) => boolean;
}): KeyedQueues<T> => {
  const byKey = new Map<string, Queue<T>>();
  let turns: Queue<T>[] = [];
  let turnsAlone: Queue<T>[] = [];
  let size = 0;

  const waitForTurn = (queue: Queue<T>): void => {
    const [first] = queue.items;
    if (first === undefined) byKey.delete(queue.key);
    else if (isAlone(first)) turnsAlone.push(queue);
    else turns.push(queue);
  };
  const take = (queue: Queue<T>, count: number): T[] => {
    queue.isTaken = true;
    size -= Math.min(count, queue.items.length);
    return queue.items.splice(0, count);
  };
  return {
    size: () => size,
    of: (key) => byKey.get(key) ?? { key, items: [], isTaken: false },
    add: (queue, item) => {
      byKey.set(queue.key, queue);
      queue.items.push(item);
      size += 1;
      if (queue.items.length === 1 && !queue.isTaken) waitForTurn(queue);
    },
    hasTurns: () => turns.length > 0,
    takeBatch: (itemsMax) => {
      const taken = new Map(chooseQueues(turns, itemsMax).map((queue) => [queue, take(queue, itemsMax)]));
      turns = turns.filter(({ isTaken }) => !isTaken);
      return taken;
    },
    takeAlone: () => {
      const queue = turnsAlone.shift();
      return queue === undefined ? undefined : new Map([[queue, take(queue, 1)]]);
    },
    giveBack: (queue, items) => {
      queue.items.unshift(...items);
      size += items.length;
      queue.isTaken = false;
      waitForTurn(queue);
    },
    waiting: () => [...byKey.values()].flatMap(({ items }) => items),
    discard: (isGone) => {
      for (const queue of byKey.values()) {
        const kept = queue.items.filter((item) => !isGone(item));
        if (kept.length === queue.items.length) continue;
        size -= queue.items.length - kept.length;
        queue.items.splice(0, queue.items.length, ...kept);
        if (queue.isTaken) continue;
        turns = turns.filter((other) => other !== queue);
        turnsAlone = turnsAlone.filter((other) => other !== queue);
        waitForTurn(queue);
      }
    },
  };
};

/** Returns one long queue, or the queues before the next long one that fit. */
const chooseQueues = <T>(turns: readonly Queue<T>[], itemsMax: number): readonly Queue<T>[] => {
  const chosen: Queue<T>[] = [];
  let count = 0;
  for (const queue of turns) {
    if (queue.items.length >= CROWD_MIN) {
      if (chosen.length === 0) return [queue];
      continue;
    }
    if (count + queue.items.length > itemsMax) break;
    chosen.push(queue);
    count += queue.items.length;
  }
  return chosen;
};
