/** Length of a recording by its frames. */
export class FrameCount {
  #seconds = 0;
  #isCountable = true;

  /** Adds frames with this number of samples in total. */
  add(samples: number, samplesPerSecond: number): void {
    if (samplesPerSecond > 0) this.#seconds += samples / samplesPerSecond;
    else this.#isCountable = false;
  }

  /** Notes that the recording has frames whose length is unknown. */
  giveUp(): void {
    this.#isCountable = false;
  }

  /** False if some frames have an unknown length. */
  get isCountable(): boolean {
    return this.#isCountable;
  }

  /** Undefined if the recording has no frames, or some whose length is unknown. */
  get milliseconds(): number | undefined {
    return this.#isCountable && this.#seconds > 0 ? Math.ceil(this.#seconds * 1000 - 1e-6) : undefined;
  }
}
