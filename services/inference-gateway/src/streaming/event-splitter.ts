import { freeBuffer } from '@svc/service-kit';

const LF = 0x0a;
const CR = 0x0d;
const INITIAL_BUFFER_BYTES = 4 * 1024;
const NOTHING = Buffer.alloc(0);

/** An event is longer than the gateway is willing to hold. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError';
}

/** Cuts a byte stream into server-sent events. */
export interface EventSplitter {
  /**
   * Calls `onBlock` for each event (or lone comment) that these bytes complete, with its raw bytes, blank line included.
   * Blocks put together are the stream, byte for byte. Throws EventTooLongError.
   */
  push: (chunk: Buffer, onBlock: (block: Buffer) => void) => void;
  /** Takes the bytes after the last blank line, which are none if the stream ended properly. */
  end: () => Buffer;
  /** Bytes of an event that is not complete. */
  heldBytes: () => number;
}

/**
 * Splits at blank lines as the HTML standard says (section 9.2.6): lines end with CRLF, LF or CR. A blank line that ends
 * with CR completes its event at once; a LF that follows belongs to it but comes with the next block. Bytes are copied
 * only where an event spans chunks.
 */
export const createEventSplitter = (eventBytesMax: number): EventSplitter => {
  let held: Buffer = NOTHING;
  let heldLength = 0;
  // Relative to the start of the block in progress, which is also where `held` starts.
  let scanned = 0;
  let lineStart = 0;
  let mayFollowCr = false;

  const hold = (bytes: Buffer): void => {
    const length = heldLength + bytes.length;
    if (length > eventBytesMax) throw new EventTooLongError(`an event is longer than ${eventBytesMax} bytes`);
    if (held.length < length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.max(INITIAL_BUFFER_BYTES, length, Math.min(held.length * 2, eventBytesMax)),
      );
      held.copy(grown, 0, 0, heldLength);
      freeBuffer(held);
      held = grown;
    }
    bytes.copy(held, heldLength);
    heldLength = length;
  };

  const take = (chunk: Buffer): Buffer => {
    if (heldLength === 0) return chunk;
    hold(chunk);
    return held.subarray(0, heldLength);
  };

  const keepRest = (view: Buffer, blockStart: number): void => {
    if (heldLength > 0 && blockStart === 0) return;
    // What was handed out may still be in use, so a buffer that blocks were cut from is never written again.
    held = NOTHING;
    heldLength = 0;
    if (blockStart < view.length) hold(view.subarray(blockStart));
  };

  const push = (chunk: Buffer, onBlock: (block: Buffer) => void): void => {
    if (chunk.length === 0) return;
    const view = take(chunk);
    let blockStart = 0;
    let position = scanned;
    let nextLf = view.indexOf(LF, position);
    let nextCr = view.indexOf(CR, position);
    for (;;) {
      if (mayFollowCr) {
        if (position >= view.length) break;
        mayFollowCr = false;
        if (view[position] === LF) {
          position += 1;
          // Right after a finished block the LF opens the next one's bytes, but not a line.
          lineStart = position - blockStart;
        }
      }
      if (nextLf !== -1 && nextLf < position) nextLf = view.indexOf(LF, position);
      if (nextCr !== -1 && nextCr < position) nextCr = view.indexOf(CR, position);
      const isCr = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf);
      const terminator = isCr ? nextCr : nextLf;
      if (terminator === -1) {
        position = view.length;
        break;
      }
      const isBlank = terminator === blockStart + lineStart;
      position = terminator + 1;
      if (isCr && view[position] === LF) position += 1;
      else if (isCr && position === view.length) mayFollowCr = true;
      lineStart = position - blockStart;
      if (isBlank) {
        const block = view.subarray(blockStart, position);
        blockStart = position;
        lineStart = 0;
        onBlock(block);
      }
    }
    scanned = position - blockStart;
    keepRest(view, blockStart);
  };

  const end = (): Buffer => {
    const rest = held.subarray(0, heldLength);
    heldLength = 0;
    return rest;
  };
  return { push, end, heldBytes: () => heldLength };
};
