import { freeBuffer } from '@svc/service-kit';
import type { JsonText } from './json-text.ts';
import { TextRoom, type TextRoomOptions } from './text-room.ts';

/** Reads a text while it arrives. */
export interface TextScan {
  /** Reads the next bytes, or all of them. Returns false once the text exceeds a limit of its structure. */
  readonly push: (bytes: Buffer, isWhole: boolean) => boolean;
  /** Number of values so far: root, members and elements. */
  readonly values: number;
}

export interface TextCollectorOptions extends TextRoomOptions {
  readonly scan: TextScan;
}

/** Each block is as long as all previous ones together, within these limits. */
const BLOCK_BYTES_MIN = 16 * 1024;
const BLOCK_BYTES_MAX = 1024 * 1024;

/** Collects a JSON text while it arrives, within the limits of its shape and of the shared memory. */
export class TextCollector {
  readonly room: TextRoom;
  readonly #bytesMax: number;
  readonly #announcedBytes: number | undefined;
  readonly #scan: TextScan;
  /** First piece, uncopied. Most texts have only one. */
  #first: Buffer | undefined;
  readonly #blocks: Buffer[] = [];
  /** Bytes in the last block. */
  #filled = 0;
  #length = 0;

  constructor(options: TextCollectorOptions) {
    this.#scan = options.scan;
    this.room = new TextRoom(options);
    this.#bytesMax = options.bytesMax;
    this.#announcedBytes = options.announcedBytes;
  }

  /**
   * Takes ownership of the next bytes. Returns `too_complex` if the text exceeds the limits of size or shape, a promise if
   * the caller must wait for room, else undefined.
   */
  push(piece: Buffer): Promise<void> | 'too_complex' | undefined {
    this.#length += piece.length;
    const isWhole = piece.length === this.#announcedBytes;
    if (this.#length > this.#bytesMax || !this.#scan.push(piece, isWhole)) return 'too_complex';
    this.room.advance(piece.length);
    if (this.#first === undefined) this.#first = piece;
    else this.#store(piece);
    return this.room.growTo(this.#length);
  }

  /** Number of bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Returns the whole text. */
  take(): JsonText {
    this.room.endTransit(this.#length);
    const pieces = this.#first === undefined ? [] : [this.#first, ...this.#blocks];
    return { pieces, length: this.#length, values: this.#scan.values };
  }

  #store(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      let block = this.#blocks.at(-1);
      if (block === undefined || this.#filled === block.length) {
        const bytes = Math.min(Math.max(this.#length, BLOCK_BYTES_MIN), BLOCK_BYTES_MAX);
        block = Buffer.allocUnsafeSlow(bytes);
        this.#blocks.push(block);
        this.#filled = 0;
      }
      const copied = piece.copy(block, this.#filled, at);
      this.#filled += copied;
      at += copied;
    }
    freeBuffer(piece);
  }
}
