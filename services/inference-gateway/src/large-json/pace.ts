/** Longest time without progress, regardless of earlier speed. */
const GRACE_MS = 2_000;
/** 8 Mbit/s. */
const BYTES_PER_MS_MIN = 1_000;

/** Checks the speed of a text on its way from the caller or provider, or to the caller. */
export class Pace {
  #deadlineMs: number;

  constructor(nowMs: number) {
    this.#deadlineMs = nowMs + GRACE_MS;
  }

  /** Extends the deadline in proportion to the bytes, so that single bytes do not keep a text alive. */
  advance(bytes: number, nowMs: number): void {
    const extensionMs = bytes / BYTES_PER_MS_MIN;
    this.#deadlineMs = Math.min(Math.max(this.#deadlineMs, nowMs) + extensionMs, nowMs + GRACE_MS);
  }

  isTooSlow(nowMs: number): boolean {
    return nowMs > this.#deadlineMs;
  }
}
