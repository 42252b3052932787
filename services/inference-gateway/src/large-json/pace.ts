/** Minimum pace of a text. */
export interface PaceLimits {
  /** Longest time without progress, regardless of earlier speed. */
  readonly graceMs: number;
  readonly bytesPerMsMin: number;
}

/** Checks the speed of a text on its way from or to the caller. */
export class Pace {
  readonly #limits: PaceLimits;
  #deadlineMs: number;

  constructor(limits: PaceLimits, nowMs: number) {
    this.#limits = limits;
    this.#deadlineMs = nowMs + limits.graceMs;
  }

  /** Extends the deadline in proportion to the bytes, so that single bytes do not keep a text alive. */
  advance(bytes: number, nowMs: number): void {
    const { graceMs, bytesPerMsMin } = this.#limits;
    this.#deadlineMs = Math.min(Math.max(this.#deadlineMs, nowMs) + bytes / bytesPerMsMin, nowMs + graceMs);
  }

  isTooSlow(nowMs: number): boolean {
    return nowMs > this.#deadlineMs;
  }
}
