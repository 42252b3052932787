import type { Allocation } from './memory-budget.ts';
import type { TextMemory } from './text-memory.ts';

/** Shorter texts are not counted. The number of connections limits them. */
const UNCOUNTED_BYTES = 16 * 1024;

export interface TextRoomOptions {
  readonly memory: TextMemory;
  readonly account: string;
  /** Announced length, if known. */
  readonly announcedBytes: number | undefined;
  readonly bytesMax: number;
}

/**
 * Memory room of one text. It allocates the maximum of its class at once, so that texts of one class that are already
 * arriving never wait for each other.
 */
export class TextRoom {
  static readonly uncountedBytes = UNCOUNTED_BYTES;
  readonly #options: TextRoomOptions;
  #allocation: Allocation | undefined;
  /** The allocation of the previous class, while the text waits for the next one. */
  #leaving: Allocation | undefined;
  #bytes = UNCOUNTED_BYTES;
  #onTooSlow: (() => void) | undefined;

  constructor(options: TextRoomOptions) {
    this.#options = options;
  }

  /** Makes room for `bytes` bytes in total. Returns undefined if there is room, else resolves when there is. */
  growTo(bytes: number): Promise<void> | undefined {
    if (bytes <= this.#bytes) return undefined;
    const { announcedBytes = 0, bytesMax, memory, account } = this.#options;
    const needed = Math.max(announcedBytes, bytes);
    const fitting = memory.classes.find(({ textBytesMax }) => textBytesMax >= needed) ?? memory.classes.at(-1);
    if (fitting === undefined) throw new Error('the memory has no classes');
    const allocation = fitting.budget.open(account);
    this.#leaving = this.#allocation;
    this.#allocation = allocation;
    this.#bytes = announcedBytes >= bytes ? announcedBytes : Math.min(fitting.textBytesMax, bytesMax);
    if (this.#onTooSlow !== undefined) allocation.startTransit(this.#onTooSlow);
    const waiting = allocation.take(this.#bytes);
    if (waiting === undefined) this.#leave();
    return waiting?.then(() => this.#leave());
  }

  /** Starts to watch the pace of the text, see `Allocation`. */
  startTransit(onTooSlow: () => void): void {
    this.#onTooSlow = onTooSlow;
    this.#allocation?.startTransit(onTooSlow);
  }

  /** Counts bytes that were received or sent. */
  advance(bytes: number): void {
    this.#allocation?.advance(bytes);
  }

  /** Stops watching the pace, and returns the memory beyond the final length. */
  endTransit(bytes: number): void {
    this.#onTooSlow = undefined;
    this.#allocation?.endTransit();
    this.#allocation?.shrinkTo(bytes);
  }

  release(): void {
    this.#leave();
    this.#allocation?.release();
    this.#allocation = undefined;
  }

  #leave(): void {
    this.#leaving?.release();
    this.#leaving = undefined;
  }
}
