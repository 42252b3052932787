import { JsonShape } from './json-shape.ts';
import type { JsonText } from './json-tasks.ts';
import type { GiveBack } from './memory-budget.ts';

/** How a text is collected. */
export interface TextCollectorOptions {
  /** The length, if it is known before. */
  readonly announcedBytes: number | undefined;
  readonly bytesMax: number;
  /** Takes room for so many bytes; resolves when there is room. */
  readonly takeRoom: (bytes: number) => Promise<GiveBack>;
}

/** Shorter texts are not counted: their number is bounded by that of the connections. */
const UNCOUNTED_BYTES = 64 * 1024;
/** Room for a text of unknown length is taken in steps, each when the one before is full. */
const STEPS = [512 * 1024, 4 * 1024 * 1024];
const NOTHING = Buffer.alloc(0);

/** Collects a JSON text while it arrives, within the bounds of its shape and of the memory that all large texts share. */
export class TextCollector {
  readonly #options: TextCollectorOptions;
  readonly #shape = new JsonShape();
  #pieces: Buffer[] = [];
  /** A text of known length is written in place, so that it need not be put together at its end. */
  #whole: Buffer | undefined;
  #length = 0;
  #room = UNCOUNTED_BYTES;
  #given: GiveBack[] = [];
  #isReleased = false;

  constructor(options: TextCollectorOptions) {
    this.#options = options;
  }

  /** Takes the next bytes. Resolves when there is room for more; returns `too_complex` beyond the bounds of the shape. */
  push(piece: Buffer): Promise<void> | 'too_complex' | undefined {
    if (!this.#shape.push(piece)) return 'too_complex';
    const { announcedBytes = 0 } = this.#options;
    const at = this.#length;
    this.#length += piece.length;
    if (announcedBytes > UNCOUNTED_BYTES) this.#whole ??= Buffer.allocUnsafeSlow(announcedBytes);
    if (this.#whole === undefined) this.#pieces.push(piece);
    else piece.copy(this.#whole, at);
    const needed = Math.max(announcedBytes, this.#length);
    return needed > this.#room ? this.#makeRoom(needed) : undefined;
  }

  /** The whole text. */
  take(): JsonText {
    const [first = NOTHING] = this.#pieces;
    const bytes =
      this.#whole?.subarray(0, this.#length) ?? (this.#pieces.length > 1 ? Buffer.concat(this.#pieces) : first);
    this.#pieces = [];
    this.#whole = undefined;
    return { bytes, values: this.#shape.values };
  }

  /** Gives the room back, when nothing refers to the text any more. */
  readonly release = (): void => {
    this.#isReleased = true;
    for (const giveBack of this.#given.splice(0)) giveBack();
  };

  async #makeRoom(needed: number): Promise<void> {
    const { announcedBytes, bytesMax, takeRoom } = this.#options;
    const wanted = announcedBytes ?? STEPS.find((step) => step >= needed) ?? bytesMax;
    const more = wanted - this.#room;
    this.#room = wanted;
    this.#given.push(await takeRoom(more));
    if (this.#isReleased) this.release();
  }
}
