/** The items of one key that wait, in the order of arrival. */
export interface Queue<T> {
  readonly key: string;
  readonly items: T[];
  /** An item of it is being worked on: the others wait until it is given back. */
  isTaken: boolean;
}

/** Items taken, by the queue that each came from. */
export type Taken<T> = ReadonlyMap<Queue<T>, readonly T[]>;

/** Queues by key, which take turns. A taken queue has its next turn once it is given back. */
export interface KeyedQueues<T> {
  /** Items that wait, in all queues. */
  readonly size: () => number;
  readonly of: (key: string) => Queue<T>;
  readonly add: (queue: Queue<T>, item: T) => void;
  /** Whether a queue waits whose first item may share a batch. */
  readonly hasTurns: () => boolean;
  /** Takes the longest crowd that is first in turn, or else whole queues until the batch is full. */
  readonly takeBatch: (itemsMax: number) => Taken<T>;
  /** Takes the first item that must be alone, if one waits. */
  readonly takeAlone: () => Taken<T> | undefined;
  /** Ends the work on a queue, and puts items back in front. */
  readonly giveBack: (queue: Queue<T>, items: readonly T[]) => void;
}

/** With as many items as these waiting, a key has a batch to itself. */
const CROWD_MIN = 3;

export const createKeyedQueues = <T>({
  isAlone,
}: {
  /** Whether an item is worked on alone. */
  readonly isAlone: (item: T) => boolean;
}): KeyedQueues<T> => {
  const byKey = new Map<string, Queue<T>>();
  let turns: Queue<T>[] = [];
  const turnsAlone: Queue<T>[] = [];
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
  };
};

/** A crowd alone, or all queues up to the next crowd that fit. */
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
