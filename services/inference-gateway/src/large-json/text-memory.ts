import { AppError } from '@svc/service-kit';
import { type Allocation, createMemoryBudget, type MemoryBudget, type MemoryBudgetLimits } from './memory-budget.ts';

/** Memory of the texts up to one size. */
export interface MemoryClass {
  readonly textBytesMax: number;
  readonly budget: MemoryBudget;
}

/**
 * Memory shared by the texts of all accounts, in classes by size: large texts do not delay small ones. A text that outgrows
 * its class moves to the next one. Texts wait only for larger classes, so they cannot deadlock on each other's memory.
 */
export interface TextMemory {
  /** By size, in ascending order. */
  readonly classes: readonly MemoryClass[];
  /**
   * Throws `service_unavailable` if the texts of this account, or of all accounts, queue for the memory of texts up to
   * `bytesMax` bytes. Called before a request is forwarded: its response then waits for memory, but never fails for it.
   */
  readonly checkRoom: (account: string, bytesMax: number) => void;
}

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const SMALL_TEXT_BYTES_MAX = 256 * KIBIBYTE;
const LARGE_TEXT_BYTES_MAX = 32 * MEBIBYTE;
/** Embeddings with 2,048 inputs of 3,072 numbers. */
const HUGE_TEXT_BYTES_MAX = 128 * MEBIBYTE;
/** Some hundred texts at a time, a quarter of them from one account. */
const SMALL_BYTES = { bytesMax: 64 * MEBIBYTE, accountBytesMax: 16 * MEBIBYTE };

/** A caller that sends slower than 8 Mbit/s delays only itself. */
const REQUEST_WAITING = { waitMs: 20_000, pace: { graceMs: 2_000, bytesPerMsMin: 1_000 }, allWaitingMax: 4_096 };
const REQUEST_CLASSES: readonly (readonly [number, MemoryBudgetLimits])[] = [
  [SMALL_TEXT_BYTES_MAX, { ...SMALL_BYTES, ...REQUEST_WAITING, accountWaitingMax: 1_024 }],
  [
    LARGE_TEXT_BYTES_MAX,
    // Three of the largest texts, two of one account.
    { ...REQUEST_WAITING, bytesMax: 96 * MEBIBYTE, accountBytesMax: 64 * MEBIBYTE, accountWaitingMax: 64 },
  ],
];

/**
 * A response has been paid for when it arrives, so it waits as long as its provider does. Only a caller that reads very slowly
 * loses a response, and only while others wait: a small response has ten seconds for its first bytes, a huge one two minutes.
 */
const RESPONSE_PACE = { graceMs: 10_000, bytesPerMsMin: 1_000 };
const RESPONSE_CLASSES: readonly (readonly [number, MemoryBudgetLimits])[] = [
  [
    SMALL_TEXT_BYTES_MAX,
    {
      ...SMALL_BYTES,
      pace: { graceMs: 10_000, bytesPerMsMin: 32 },
      accountWaitingMax: 256,
      allWaitingMax: 1_024,
    },
  ],
  [
    LARGE_TEXT_BYTES_MAX,
    // Three of the largest texts, one of one account.
    {
      bytesMax: 96 * MEBIBYTE,
      accountBytesMax: 32 * MEBIBYTE,
      pace: RESPONSE_PACE,
      accountWaitingMax: 32,
      allWaitingMax: 128,
    },
  ],
  [
    HUGE_TEXT_BYTES_MAX,
    {
      bytesMax: HUGE_TEXT_BYTES_MAX,
      accountBytesMax: HUGE_TEXT_BYTES_MAX,
      pace: RESPONSE_PACE,
      accountWaitingMax: 2,
      allWaitingMax: 8,
    },
  ],
];

/** Opens the memory of requests. A request that finds none in time is refused. */
export const openRequestMemory = (): TextMemory => openMemory(REQUEST_CLASSES);

/** Opens the memory of responses, which are never refused. */
export const openResponseMemory = (): TextMemory => openMemory(RESPONSE_CLASSES);

const openMemory = (classes: typeof REQUEST_CLASSES): TextMemory => {
  const opened = classes.map(([textBytesMax, limits]) => ({ textBytesMax, budget: createMemoryBudget(limits) }));
  return {
    classes: opened,
    checkRoom: (account, bytesMax) => {
      for (const [place, { budget }] of opened.entries()) {
        const isNeeded = (opened[place - 1]?.textBytesMax ?? 0) < bytesMax;
        if (isNeeded && budget.isCongested(account)) {
          throw new AppError('service_unavailable', undefined, { headers: { 'retry-after': '2' } });
        }
      }
    },
  };
};

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
