import type { Duplex } from 'node:stream';
import { LineSplitter } from './line-splitter.ts';

/** More than any call. */
const LINE_CHARACTERS_MAX = 256 * 1024;
/** Calls that are sent ahead of the answer to another one; more of them end the connection. */
const AHEAD_MAX = 16;

/** The far side of one connection: hands on one line after the other, the next one once the one before is answered. */
export class LinePeer {
  readonly #socket: Duplex;
  readonly #answer: (line: string) => Promise<void>;
  readonly #splitter = new LineSplitter(LINE_CHARACTERS_MAX);
  #ahead: string[] = [];
  #isBusy = false;
  #isLast = false;

  /** Where `answer` rejects, the connection is ended. `head` was read ahead of it. */
  constructor(socket: Duplex, head: Buffer, answer: (line: string) => Promise<void>) {
    this.#socket = socket;
    this.#answer = answer;
    if (head.length > 0) socket.unshift(head);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('end', () => this.endWhenIdle());
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  write(text: string): void {
    if (this.isOpen) this.#socket.write(text);
  }

  /** Takes no more lines, and ends with the answer to this one. */
  endWhenIdle(): void {
    this.#isLast = true;
    if (!this.#isBusy) this.#end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Once all is written: whoever does not end its half keeps nothing open. */
  #end(): void {
    this.#socket.end(() => this.#socket.destroy());
  }

  #take(bytes: Buffer): void {
    try {
      this.#ahead.push(...this.#splitter.take(bytes));
      if (this.#ahead.length > AHEAD_MAX) this.destroy();
      else if (!this.#isBusy) this.#answerNext();
    } catch {
      this.destroy();
    }
  }

  #answerNext(): void {
    const line = this.#isLast || !this.isOpen ? undefined : this.#ahead.shift();
    if (line === undefined) return;
    this.#isBusy = true;
    this.#answer(line).then(
      () => {
        this.#isBusy = false;
        if (this.#isLast) this.#end();
        else this.#answerNext();
      },
      () => this.destroy(),
    );
  }
}
