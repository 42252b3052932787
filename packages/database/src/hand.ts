import type { Knex } from 'knex';
import { isAtRest } from './driver-connection.ts';

/** How long a connection is held for the next statement, in milliseconds. */
const HELD_MS = 5_000;
/** Connections that are held at once: of more statements at a time, some can bear the way through the pool. */
const HELD_MAX = 2;

/** What is used of the pool. */
interface Pool {
  on(event: 'acquireRequest' | 'poolDestroyRequest', listener: () => void): void;
  release(connection: unknown): void;
  numFree(): number;
  numPendingAcquires(): number;
}

/**
 * Connections that go from one prepared statement to the next: the way into the pool and out of it takes longer than sending a
 * statement. Where the pool has none left for somebody, it gets them back.
 */
export class Hand {
  readonly #pool: Pool;
  #held: unknown[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
    pool.on('acquireRequest', () => {
      if (pool.numFree() === 0) this.#empty();
    });
    pool.on('poolDestroyRequest', this.#empty);
  }

  /** A connection that is at rest. */
  take(): unknown {
    for (let connection = this.#held.pop(); connection !== undefined; connection = this.#held.pop()) {
      if (isAtRest(connection)) return connection;
      this.#pool.release(connection);
    }
    return undefined;
  }

  /** Takes a connection over from a statement that has ended. */
  give(connection: unknown): void {
    if (this.#held.length >= HELD_MAX || this.#pool.numPendingAcquires() > 0 || !isAtRest(connection)) {
      this.#pool.release(connection);
      return;
    }
    this.#held.push(connection);
    if (this.#timer === undefined) this.#timer = setTimeout(this.#empty, HELD_MS).unref();
    else this.#timer.refresh();
  }

  readonly #empty = (): void => {
    const held = this.#held;
    this.#held = [];
    for (const connection of held) this.#pool.release(connection);
  };
}

const hands = new WeakMap<object, Hand>();

/** Gives a pool its hand. */
export const openHand = ({ client }: Knex): void => {
  hands.set(client, new Hand(client.pool));
};

/** The hand of an executor's pool; a transaction has none, as it has its connection already. */
export const handOf = ({ client }: Knex | Knex.Transaction): Hand | undefined => hands.get(client);
