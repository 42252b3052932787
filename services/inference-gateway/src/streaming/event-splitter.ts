import { freeBuffer } from '@svc/service-kit';

const LF = 0x0a;
const CR = 0x0d;
const INITIAL_BUFFER_BYTES = 4 * 1024;
const NOTHING = Buffer.alloc(0);

/** Thrown if an event exceeds the size limit. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError';
}

/** Splits a byte stream into server-sent events. */
export interface EventSplitter {
  /**
   * Calls `onBlock` with the raw bytes of each event (or lone comment) that these bytes complete, including its blank line.
   * The blocks concatenated are the stream, byte for byte. Throws EventTooLongError.
   */
  push: (chunk: Buffer, onBlock: (block: Buffer) => void) => void;
  /** Returns the bytes after the last blank line, none if the stream ended properly. */
  end: () => Buffer;
  /** Returns the number of bytes held of an incomplete event. */
  heldBytes: () => number;
}

/**
 * Creates a splitter at blank lines (HTML standard, section 9.2.6): lines end with CRLF, LF or CR. A blank line that ends
 * with CR completes its event immediately; a LF that follows is part of the next block. Bytes are copied only if an event
 * spans chunks.
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
    // Returned blocks may still be in use, so their buffer is never written again.
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
          // After a completed block, the LF is part of the next block but starts no line.
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
