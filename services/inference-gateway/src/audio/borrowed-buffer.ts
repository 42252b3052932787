import { EventEmitter } from 'node:events';

const NOTHING = Buffer.alloc(0);

/**
 * Stream for `strtok3` that lends its pieces without copying them. It has only the members that the library uses: `read`,
 * and the events `readable`, `end` and `close`. The lender gets each piece back before it lends the next one.
 */
export class BorrowedBuffer extends EventEmitter<{ readable: []; end: []; close: []; error: [Error] }> {
  #piece: Buffer = NOTHING;
  #onReturned: (() => void) | undefined;
  #isOver = false;

  /** Resolves when the piece has been read, or will not be read any more. */
  lend(piece: Buffer): Promise<void> {
    if (this.#onReturned !== undefined) throw new Error('the previous piece has not been read yet');
    if (this.#isOver || piece.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#piece = piece;
      this.#onReturned = resolve;
      this.emit('readable');
    });
  }

  /** Returns at most `length` bytes, which are valid until the next read; null if the reader must wait for `readable`. */
  read(length: number): Buffer | null {
    if (this.#piece.length === 0) return null;
    const bytes = this.#piece.subarray(0, length);
    this.#piece = this.#piece.subarray(bytes.length);
    if (this.#piece.length === 0) this.#returnPiece();
    return bytes;
  }

  /** Signals the end of the bytes to the reader. */
  end(): void {
    this.#finish('end');
  }

  /** Ends reading. */
  stop(): void {
    this.#finish('close');
  }

  #finish(event: 'close' | 'end'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#piece = NOTHING;
    this.#returnPiece();
    this.emit(event);
  }

  #returnPiece(): void {
    const onReturned = this.#onReturned;
    this.#onReturned = undefined;
    onReturned?.();
  }
}
