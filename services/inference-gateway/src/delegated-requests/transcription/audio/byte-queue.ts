const NOTHING = Buffer.alloc(0);

/** Thrown at the end of a recording within an element. */
export class EndOfRecording extends Error {
  override readonly name = 'EndOfRecording';
}

/** Limit of reads, some 0.3 µs each. A longer recording than this is one of hours at the lowest bit rates. */
const READS_MAX = 1_500_000;

/** A step of a parser. It yields whenever it needs bytes that have not arrived yet. */
export type Step<T = void> = Generator<void, T, void>;

/** Bytes of a recording while they arrive. Keeps only what a parser has not taken yet. */
export class ByteQueue {
  #bytes: Buffer = NOTHING;
  #at = 0;
  #toSkip = 0;
  #reads = 0;
  #isOver = false;

  /** True once the last bytes have been added. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Adds the next bytes. They are valid until `keepRest`. */
  add(piece: Buffer): void {
    const rest = this.#bytes.subarray(this.#at);
    this.#bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    this.#at = 0;
    const { length } = this.#bytes;
    this.#at = Math.min(this.#toSkip, length);
    this.#toSkip -= this.#at;
  }

  /** Copies the bytes that are left, because the caller may reuse their memory. */
  keepRest(): void {
    this.#bytes = Buffer.from(this.#bytes.subarray(this.#at));
    this.#at = 0;
  }

  end(): void {
    this.#isOver = true;
  }

  /** Returns `count` bytes without taking them, fewer at the end. Throws EndOfRecording if there are none. */
  *peek(count: number): Step<Buffer> {
    this.#countRead();
    for (;;) {
      const left = this.#bytes.length - this.#at;
      if (left >= count || (this.#isOver && left > 0)) return this.#bytes.subarray(this.#at, this.#at + count);
      if (this.#isOver) throw new EndOfRecording();
      yield;
    }
  }

  /** Takes `count` bytes. Throws EndOfRecording if there are fewer. */
  *read(count: number): Step<Buffer> {
    if (count === 0) {
      this.#countRead();
      return NOTHING;
    }
    const bytes = yield* this.peek(count);
    if (bytes.length < count) throw new EndOfRecording();
    this.#at += count;
    return bytes;
  }

  skip(count: number): void {
    const now = Math.min(count, this.#bytes.length - this.#at);
    this.#at += now;
    this.#toSkip += count - now;
  }

  /** Skips to the next byte of this value. Throws EndOfRecording if there is none. */
  *find(value: number): Step {
    for (;;) {
      yield* this.peek(1);
      const found = this.#bytes.indexOf(value, this.#at);
      if (found !== -1) {
        this.#at = found;
        return;
      }
      this.#at = this.#bytes.length;
    }
  }

  /** Takes all bytes up to the end and returns their number. */
  *drain(): Step<number> {
    let count = 0;
    for (;;) {
      count += this.#bytes.length - this.#at;
      this.#at = this.#bytes.length;
      if (this.#isOver) return count;
      yield;
    }
  }

  #countRead(): void {
    this.#reads += 1;
    if (this.#reads > READS_MAX) throw new RangeError('the recording takes too many reads');
  }
}
