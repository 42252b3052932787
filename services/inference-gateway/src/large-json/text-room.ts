import type { Allocation } from './memory-budget.ts';
import type { TextMemory } from './text-memory.ts';

/** Shorter texts are not counted. The number of connections limits them. */
const UNCOUNTED_BYTES = 16 * 1024;
const SMALL_BYTES_MAX = 256 * 1024;

export interface TextRoomOptions {
  readonly memory: TextMemory;
  readonly account: string;
  /** Announced length, if known. */
  readonly announcedBytes: number | undefined;
  readonly bytesMax: number;
}

/**
 * Memory room of one text. A small or a large text allocates once, up to the maximum that it can need. Texts that are
 * already arriving therefore cannot deadlock on each other's memory.
 */
export class TextRoom {
  static readonly uncountedBytes = UNCOUNTED_BYTES;
  readonly #options: TextRoomOptions;
  readonly #allocations: Allocation[] = [];
  #bytes = UNCOUNTED_BYTES;
  #onTooSlow: (() => void) | undefined;

  constructor(options: TextRoomOptions) {
    this.#options = options;
  }

  /** Makes room for `bytes` bytes in total. Returns undefined if there is room, else resolves when there is. */
  growTo(bytes: number): Promise<void> | undefined {
    if (bytes <= this.#bytes) return undefined;
    const { announcedBytes = 0, bytesMax, memory, account } = this.#options;
    const isSmall = Math.max(announcedBytes, bytes) <= SMALL_BYTES_MAX;
    const allocation = (isSmall ? memory.small : memory.large).open(account);
    this.#allocations.push(allocation);
    this.#bytes = announcedBytes || (isSmall ? SMALL_BYTES_MAX : bytesMax);
    if (this.#onTooSlow !== undefined) allocation.startTransit(this.#onTooSlow);
    return allocation.take(this.#bytes);
  }

  /** Starts to watch the pace of the text, see `Allocation`. */
  startTransit(onTooSlow: () => void): void {
    this.#onTooSlow = onTooSlow;
    this.#allocations.at(-1)?.startTransit(onTooSlow);
  }

  /** Counts bytes that were received or sent. */
  advance(bytes: number): void {
    this.#allocations.at(-1)?.advance(bytes);
  }

  /** Stops watching the pace, and returns the memory beyond the final length. */
  endTransit(bytes: number): void {
    this.#onTooSlow = undefined;
    const last = this.#allocations.at(-1);
    for (const allocation of this.#allocations) {
      allocation.endTransit();
      allocation.shrinkTo(allocation === last ? bytes : 0);
    }
  }

  release(): void {
    for (const allocation of this.#allocations.splice(0)) allocation.release();
  }
}
