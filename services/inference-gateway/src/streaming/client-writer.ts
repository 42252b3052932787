import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** The replacement of an event. Undefined sends nothing. */
export type Edited = Buffer | string | undefined;

export interface ClientWriterOptions {
  /** After so long without reading, the caller counts as gone. */
  readonly idleTimeoutMs: number;
  /** The caller reads more slowly than is written to it. */
  readonly onFull: () => void;
  /** The caller has caught up, or has left and needs no more waiting. */
  readonly onRoom: () => void;
}

/** The caller's end of a stream. All methods do nothing once the caller has gone. */
export interface ClientWriter {
  readonly open: (headers: OutgoingHttpHeaders) => void;
  /** Queues bytes until `flush`, so that what came together leaves together. */
  readonly add: (bytes: Edited) => void;
  readonly flush: () => void;
  readonly end: (bytes: Edited) => void;
  readonly isGone: () => boolean;
  /** Stops watching the response, which is then answered elsewhere. */
  readonly release: () => void;
}

/** Longer pieces are not worth the copy. */
const FRAMED_BYTES_MAX = 16 * 1024;

/** Writes to a response, holding no more than its own buffer and the bytes of one piece. */
export const createClientWriter = (res: ServerResponse, options: ClientWriterOptions): ClientWriter => {
  let queue: (Buffer | string)[] = [];
  let isGone = res.destroyed;
  let isHeadOut = false;
  let idleTimer: NodeJS.Timeout | undefined;

  const stopWaiting = (): void => {
    clearTimeout(idleTimer);
    idleTimer = undefined;
  };
  // A response behind another one on its connection has no socket yet.
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
  // Emitted for bytes that were written past the response.
  socket?.on('drain', onDrain);

  /** Returns true if there is room for more. */
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
      // A caller that never reads the end must not keep its connection for good.
      waitForReader();
      res.once('finish', stopWaiting);
      // The last piece leaves together with the end of the body.
      socket?.cork();
      if (bytes !== undefined && bytes.length > 0) send(bytes);
      res.end();
      socket?.uncork();
    },
    isGone: () => isGone,
    release: unwatch,
  };
};

/** A whole chunk (RFC 9112 section 7.1), as one piece: the response would hand four to the connection, at a third more time. */
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
