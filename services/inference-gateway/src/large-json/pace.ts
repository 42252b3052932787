/** A text that has not moved for so long is late, however fast it was before. */
const GRACE_MS = 2_000;
/** 8 Mbit/s. */
const BYTES_PER_MS_MIN = 1_000;

/** Judges how fast a text moves: in from the caller or the provider, or out to the caller. */
export class Pace {
  #lateAtMs: number;

  constructor(nowMs: number) {
    this.#lateAtMs = nowMs + GRACE_MS;
  }

  /** Notes bytes that have moved. They buy time by their number, so that single bytes do not keep a text from being late. */
  advance(bytes: number, nowMs: number): void {
    const boughtMs = bytes / BYTES_PER_MS_MIN;
    this.#lateAtMs = Math.min(Math.max(this.#lateAtMs, nowMs) + boughtMs, nowMs + GRACE_MS);
  }

  isLate(nowMs: number): boolean {
    return nowMs > this.#lateAtMs;
  }
}
