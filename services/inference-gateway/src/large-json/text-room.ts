import type { Lease } from './memory-budget.ts';
import type { TextMemory } from './text-memory.ts';

/** Shorter texts are not counted: their number is bounded by that of the connections. */
const UNCOUNTED_BYTES = 16 * 1024;
const SMALL_BYTES_MAX = 256 * 1024;

export interface TextRoomOptions {
  readonly memory: TextMemory;
  readonly account: string;
  /** The length, if it is known before. */
  readonly announcedBytes: number | undefined;
  readonly bytesMax: number;
}

/**
 * The room that one text takes in memory. It is taken once for a small text and once for a large one, each time as much as the text can
 * need: no two texts that have begun to arrive wait for each other.
 */
export class TextRoom {
  static readonly uncountedBytes = UNCOUNTED_BYTES;
  readonly #options: TextRoomOptions;
  readonly #leases: Lease[] = [];
  #bytes = UNCOUNTED_BYTES;
  #onLate: (() => void) | undefined;

  constructor(options: TextRoomOptions) {
    this.#options = options;
  }

  /** Makes room for the first `bytes` bytes. Returns undefined if there is room, else resolves when there is. */
  reach(bytes: number): Promise<void> | undefined {
    if (bytes <= this.#bytes) return undefined;
    const { announcedBytes = 0, bytesMax, memory, account } = this.#options;
    const isSmall = Math.max(announcedBytes, bytes) <= SMALL_BYTES_MAX;
    const lease = (isSmall ? memory.small : memory.large).open(account);
    this.#leases.push(lease);
    this.#bytes = announcedBytes || (isSmall ? SMALL_BYTES_MAX : bytesMax);
    if (this.#onLate !== undefined) lease.move(this.#onLate);
    return lease.take(this.#bytes);
  }

  /** From now on the text has to move while others wait for room, see Lease. */
  move(onLate: () => void): void {
    this.#onLate = onLate;
    this.#leases.at(-1)?.move(onLate);
  }

  /** Notes bytes that have moved. */
  advance(bytes: number): void {
    this.#leases.at(-1)?.advance(bytes);
  }

  /** The text, of so many bytes, is at rest with the gateway. */
  rest(bytes: number): void {
    this.#onLate = undefined;
    const last = this.#leases.at(-1);
    for (const lease of this.#leases) {
      lease.rest();
      lease.keep(lease === last ? bytes : 0);
    }
  }

  release(): void {
    for (const lease of this.#leases.splice(0)) lease.release();
  }
}
