import type { Socket } from 'node:net';
import { CHANNEL_CLOSING_LINE } from '@svc/contracts';
import type { LineCall } from './create-line-client.ts';
import { LineSplitter } from './line-splitter.ts';

/** What a connection is made of. */
export interface LineConnectionParts {
  readonly socket: Socket;
  /** Read ahead of it. */
  readonly head: Buffer;
  readonly onClosed: (channel: LineConnection) => void;
}

interface Pending {
  readonly onLine: LineCall['onLine'];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const PROBE_AFTER_MS = 10_000;
const LINE_CHARACTERS_MAX = 1024 * 1024;

/** One connection, with one call at a time. Lines that nobody has asked for end it. */
export class LineConnection {
  /** Milliseconds of `performance.now()`. */
  readonly openedAtMs = performance.now();
  idleSinceMs = performance.now();
  readonly #socket: Socket;
  readonly #splitter = new LineSplitter(LINE_CHARACTERS_MAX);
  #pending: Pending | undefined;
  #isLeft = false;

  constructor({ socket, head, onClosed }: LineConnectionParts) {
    this.#socket = socket;
    if (head.length > 0) socket.unshift(head);
    socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', (error) => this.end(error));
    socket.on('end', () => this.end(new Error('the other side ended the channel')));
    socket.on('close', () => {
      this.end(new Error('the channel broke off'));
      onClosed(this);
    });
  }

  /** Whether it can take another call. */
  get isUsable(): boolean {
    return !this.#isLeft && !this.#socket.destroyed && this.#pending === undefined;
  }

  /** Sends a line; settles with the last line of its answer. */
  call({ line, timeoutMs, onLine }: LineCall): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.isUsable) {
        reject(new Error('the channel was ended'));
        return;
      }
      const timer = setTimeout(() => this.end(new Error('no answer in time')), timeoutMs);
      this.#pending = { onLine, resolve, reject, timer };
      this.#socket.write(`${line}\n`);
    });
  }

  /** Ends it in good order, now or with the call that is under way. */
  leave(): void {
    this.#isLeft = true;
    if (this.#pending === undefined) this.#socket.destroySoon();
  }

  /** Ends it, and what is under way fails with this. */
  end(error: Error): void {
    this.#isLeft = true;
    this.#socket.destroy();
    const pending = this.#pending;
    this.#pending = undefined;
    clearTimeout(pending?.timer);
    pending?.reject(error);
  }

  #take(bytes: Buffer): void {
    try {
      for (const line of this.#splitter.take(bytes)) this.#takeLine(line);
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #takeLine(line: string): void {
    const pending = this.#pending;
    if (line === CHANNEL_CLOSING_LINE) this.leave();
    else if (pending === undefined) throw new Error('a line came that was not asked for');
    else if (pending.onLine(line)) this.#finish(pending);
  }

  #finish({ resolve, timer }: Pending): void {
    clearTimeout(timer);
    this.#pending = undefined;
    this.idleSinceMs = performance.now();
    if (this.#isLeft) this.#socket.destroySoon();
    resolve();
  }
}
