import { EventEmitter } from 'node:events';

const NOTHING = Buffer.alloc(0);

/**
 * Bytes that a reader gets piece by piece without being given them, as `strtok3` reads a stream: by `read`, and `readable`, `end` and
 * `close` where it waits. The lender has a piece back before it lends the next one.
 */
export class LentBytes extends EventEmitter<{ readable: []; end: []; close: []; error: [Error] }> {
  #piece: Buffer = NOTHING;
  #giveBack: (() => void) | undefined;
  #isOver = false;

  /** Resolves once all of the piece has been read, or nobody will read it. */
  lend(piece: Buffer): Promise<void> {
    if (this.#giveBack !== undefined) throw new Error('the piece before has not been read yet');
    if (this.#isOver || piece.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#piece = piece;
      this.#giveBack = resolve;
      this.emit('readable');
    });
  }

  /** At most so many bytes, to be used at once; null where it is to wait for `readable`. */
  read(length: number): Buffer | null {
    if (this.#piece.length === 0) return null;
    const bytes = this.#piece.subarray(0, length);
    this.#piece = this.#piece.subarray(bytes.length);
    if (this.#piece.length === 0) this.#letGo();
    return bytes;
  }

  /** Nothing more comes. */
  end(): void {
    this.#finish('end');
  }

  /** Nothing more is read. */
  stop(): void {
    this.#finish('close');
  }

  #finish(event: 'close' | 'end'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#piece = NOTHING;
    this.#letGo();
    this.emit(event);
  }

  #letGo(): void {
    const giveBack = this.#giveBack;
    this.#giveBack = undefined;
    giveBack?.();
  }
}
