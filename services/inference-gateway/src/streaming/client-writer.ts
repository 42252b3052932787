import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** An edited event. Undefined sends nothing. */
export type Edited = Buffer | string | undefined;

export interface ClientWriterOptions {
  /** A caller that reads nothing for this long is disconnected. */
  readonly idleTimeoutMs: number;
  /** Called when the buffers are full. */
  readonly onFull: () => void;
  /** Called when the buffers have drained, or the caller has disconnected. */
  readonly onRoom: () => void;
}

/** Writer to the caller of a stream. All methods do nothing once the caller has disconnected. */
export interface ClientWriter {
  readonly open: (headers: OutgoingHttpHeaders) => void;
  /** Queues bytes until `flush`, so that events that arrive together are sent together. */
  readonly add: (bytes: Edited) => void;
  readonly flush: () => void;
  readonly end: (bytes: Edited) => void;
  readonly isGone: () => boolean;
  /** Detaches from the response, so that other code can answer it. */
  readonly release: () => void;
}

/** Longer pieces are not copied into one write. */
const FRAMED_BYTES_MAX = 16 * 1024;

/** Creates a writer that holds no more than the buffer of the response and one piece. */
export const createClientWriter = (res: ServerResponse, options: ClientWriterOptions): ClientWriter => {
  let queue: (Buffer | string)[] = [];
  let isGone = res.destroyed;
  let isHeadOut = false;
  let idleTimer: NodeJS.Timeout | undefined;

  const stopWaiting = (): void => {
    clearTimeout(idleTimer);
    idleTimer = undefined;
  };
  // A pipelined response has no socket yet.
  const { socket } = res;
  const unwatch = (): void => {
    stopWaiting();
    res.off('close', onClose).off('drain', onDrain);
    socket?.off('drain', onDrain);
  };
  const onClose = (): void => {
    isGone = true;
    queue = [];
    unwatch();
    options.onRoom();
  };
  const onDrain = (): void => {
    stopWaiting();
    options.onRoom();
  };
  const waitForReader = (): void => {
    idleTimer ??= setTimeout(() => res.destroy(), options.idleTimeoutMs);
  };
  res.on('close', onClose).on('drain', onDrain);
  // Bytes that `send` writes to the socket directly emit `drain` there.
  socket?.on('drain', onDrain);

  /** Returns false if the buffers are full. */
  const send = (piece: Buffer | string): boolean => {
    const length = Buffer.byteLength(piece);
    if (socket === null || !res.chunkedEncoding || length > FRAMED_BYTES_MAX) return res.write(piece);
    if (isHeadOut) return socket.write(toChunk(piece, length));
    socket.cork();
    res.flushHeaders();
    const hasRoom = socket.write(toChunk(piece, length));
    socket.uncork();
    return hasRoom;
  };

  const flush = (): void => {
    if (queue.length === 0 || isGone) return;
    const hasRoom = send(joined(queue));
    isHeadOut = true;
    queue = [];
    if (hasRoom) return;
    options.onFull();
    waitForReader();
  };
  return {
    open: (headers) => {
      if (!isGone) res.writeHead(200, headers);
    },
    add: (bytes) => {
      if (bytes !== undefined && bytes.length > 0 && !isGone) queue.push(bytes);
    },
    flush,
    end: (bytes) => {
      if (isGone) return;
      stopWaiting();
      // A caller that never reads the end must not keep its connection open forever.
      waitForReader();
      res.once('finish', stopWaiting);
      // Sends the last piece and the end of the body in one write.
      socket?.cork();
      if (bytes !== undefined && bytes.length > 0) send(bytes);
      res.end();
      socket?.uncork();
    },
    isGone: () => isGone,
    release: unwatch,
  };
};

/** Formats a chunk (RFC 9112 section 7.1) as one write. The response would use four, which takes a third longer. */
const toChunk = (piece: Buffer | string, length: number): Buffer | string => {
  const size = `${length.toString(16)}\r\n`;
  if (typeof piece === 'string') return `${size}${piece}\r\n`;
  const chunk = Buffer.allocUnsafe(size.length + length + CRLF.length);
  chunk.write(size, 'latin1');
  piece.copy(chunk, size.length);
  CRLF.copy(chunk, size.length + length);
  return chunk;
};

const CRLF = Buffer.from('\r\n');

const joined = (pieces: readonly (Buffer | string)[]): Buffer | string => {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
};
