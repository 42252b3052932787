import nodeCrypto from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from './random.ts';
import { bindToProcess } from './simulated-process.ts';
import type { TimedEvent, VirtualTime } from './time.ts';

/**
 * Replaces the functions that the services use on files by ones that work at once. Those of Node.js work in threads, whose
 * order belongs to the machine. Must be followed by `syncBuiltinESMExports`.
 */
const replaceFiles = (): void => {
  const replacements = {
    readdir: atOnce(readdirSync),
    readFile: atOnce(readFileSync),
    rm: atOnce(rmSync),
  };
  // The arguments and results are those of the functions that they replace.
  Object.assign(files, replacements);
};

/** Turns a synchronous function into one that returns a promise. */
const atOnce =
  <A extends unknown[], R>(work: (...args: A) => R) =>
  async (...args: A): Promise<R> =>
    work(...args);

/** Callbacks of `setImmediate` that wait for their turn. */
export interface ImmediateQueue {
  /** Runs the waiting callbacks in order. Returns false if there were none. */
  readonly run: () => boolean;
}

/**
 * Replaces the clocks, timers and random sources of this process by those of the seed, for the code of the services and of
 * their libraries. Lasts until the process ends: a simulation has a process to itself.
 */
export const replaceGlobals = (time: VirtualTime, random: Random): ImmediateQueue => {
  replaceClocks(time);
  replaceTimers(time);
  replaceRandom(random);
  replaceFiles();
  const immediates = replaceImmediates();
  syncBuiltinESMExports();
  return immediates;
};

const replaceClocks = (time: VirtualTime): void => {
  const RealDate = Date;
  const now = (): number => Math.floor(time.nowMs());
  class VirtualDate extends RealDate {
    constructor(...args: [] | [value: number | string | Date]) {
      // The other signatures of Date pass through unchanged.
      super(...((args.length === 0 ? [now()] : args) as [number]));
    }

    static override now(): number {
      return now();
    }

    static override [Symbol.hasInstance](value: unknown): boolean {
      return Object.prototype.isPrototypeOf.call(RealDate.prototype, Object(value));
    }
  }
  // A Date is always made with `new` in this code base, which is all that the class cannot do without.
  globalThis.Date = VirtualDate as DateConstructor;
  performance.now = () => time.elapsedMs();
};

/** The part of Node's `Timeout` that callers use. */
class VirtualTimer {
  #event: TimedEvent;
  readonly #start: () => TimedEvent;

  constructor(start: () => TimedEvent) {
    this.#start = start;
    this.#event = start();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  refresh(): this {
    this.close();
    this.#event = this.#start();
    return this;
  }

  close(): this {
    this.#event.isCancelled = true;
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** For intervals, whose next event replaces the one that has just run. */
  follow(event: TimedEvent): void {
    if (!this.#event.isCancelled) this.#event = event;
    else event.isCancelled = true;
  }
}

const replaceTimers = (time: VirtualTime): void => {
  const setTimer = (callback: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]): VirtualTimer =>
    new VirtualTimer(() => time.schedule(Math.max(1, delayMs), 'timer', () => callback(...args)));
  const setRepeated = (callback: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]): VirtualTimer => {
    const next = (): TimedEvent =>
      time.schedule(Math.max(1, delayMs), 'interval', () => {
        timer.follow(next());
        callback(...args);
      });
    const timer: VirtualTimer = new VirtualTimer(next);
    return timer;
  };
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close();
  };
  // Callers use the members of a timer that `VirtualTimer` has, and no others.
  globalThis.setTimeout = setTimer as unknown as typeof setTimeout;
  globalThis.setInterval = setRepeated as unknown as typeof setInterval;
  globalThis.clearTimeout = clear;
  globalThis.clearInterval = clear;
  timersPromises.setTimeout = sleepBy(time);
  AbortSignal.timeout = (milliseconds) => {
    const controller = new AbortController();
    setTimer(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), milliseconds);
    return controller.signal;
  };
};

const sleepBy =
  (time: VirtualTime): typeof timersPromises.setTimeout =>
  (delayMs = 1, value, { signal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(new DOMException('The operation was aborted', 'AbortError'));
      const event = time.schedule(Math.max(1, delayMs), 'sleep', () => {
        signal?.removeEventListener('abort', give);
        // The caller that passes no value asks for none.
        resolve(value as never);
      });
      const give = (): void => {
        event.isCancelled = true;
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      signal?.addEventListener('abort', give, { once: true });
    });

const replaceImmediates = (): ImmediateQueue => {
  let waiting: { readonly run: () => void; isCancelled: boolean }[] = [];
  const later = (callback: (...args: unknown[]) => void, ...args: unknown[]) => {
    const entry = { run: bindToProcess(() => callback(...args)), isCancelled: false };
    waiting.push(entry);
    return entry;
  };
  // Callers only pass the result to clearImmediate.
  globalThis.setImmediate = later as unknown as typeof setImmediate;
  globalThis.clearImmediate = ((entry: { isCancelled: boolean } | undefined) => {
    if (entry !== undefined) entry.isCancelled = true;
  }) as typeof clearImmediate;
  return {
    run: () => {
      const turn = waiting;
      waiting = [];
      for (const entry of turn) if (!entry.isCancelled) entry.run();
      return turn.length > 0;
    },
  };
};

const replaceRandom = (random: Random): void => {
  const fill = (bytes: Uint8Array): void => {
    for (let place = 0; place < bytes.length; place += 1) bytes[place] = random.integer(0, 255);
  };
  Math.random = random.next;
  nodeCrypto.randomBytes = ((size: number) => {
    const bytes = Buffer.alloc(size);
    fill(bytes);
    return bytes;
  }) as typeof nodeCrypto.randomBytes;
  const uuid = (): ReturnType<typeof nodeCrypto.randomUUID> => {
    const hex = nodeCrypto.randomBytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  nodeCrypto.randomUUID = uuid;
  globalThis.crypto.randomUUID = uuid;
  globalThis.crypto.getRandomValues = (array) => {
    // The services fill byte arrays only.
    if (array instanceof Uint8Array) fill(array);
    return array;
  };
};
