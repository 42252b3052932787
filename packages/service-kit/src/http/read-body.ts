import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../app-error.ts';

/**
 * Frees the memory of an unused buffer, unless the memory is shared. The garbage collector would otherwise let tens of
 * megabytes accumulate and then collect the whole heap.
 */
export const freeBuffer = ({ buffer, length }: Buffer): void => {
  if (length > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
};

/** Returns true if the request announces a body (RFC 9112 section 6.3). */
export const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

/** Returns the media type in lower case without parameters; undefined if the request names none. */
export const mediaType = (req: IncomingMessage): string | undefined =>
  req.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();

/**
 * Throws `unsupported_media_type` unless the body has the type and no content encoding: the size of compressed bodies
 * is unknown until they are unpacked.
 */
export const checkMediaType = (req: IncomingMessage, wanted: string): void => {
  const encoding = req.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new AppError('unsupported_media_type', 'A body must not be compressed.');
  if (wanted === '*/*') return;
  if (mediaType(req) !== wanted) throw new AppError('unsupported_media_type', `The body must be of type ${wanted}.`);
  if (wanted.endsWith('json') || wanted.endsWith('urlencoded')) checkCharset(req);
};

const checkCharset = (req: IncomingMessage): void => {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(req.headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new AppError('unsupported_media_type', 'The body must be in UTF-8.');
  }
};

/** Callers may be slow but not silent. */
const IDLE_TIMEOUT_MS = 60_000;
/** After this many bytes, other connections get their turn on the event loop. */
const TURN_BYTES = 128 * 1024;
/** Up to this many pieces may have any length. Millions of tiny pieces would cost a thousand times their bytes. */
const PIECES_FREE = 4_096;
const PIECE_BYTES_MEAN_MIN = 64;
/** Pause between two turns of a discarded body: 16 MB/s, so that 30 MB end before the connection is closed. */
const DISCARD_PAUSE_MS = 8;

export interface BodyReading {
  readonly bytesMax: number;
  readonly idleTimeoutMs?: number;
  /** Handles the next bytes; a promise pauses the caller until it resolves. A thrown error ends reading. */
  readonly onChunk: (chunk: Buffer) => void | Promise<void>;
  /** Called before the first piece of a chunked body, with a function that ends reading early. */
  readonly onPieces?: (fail: (error: AppError) => void) => void;
}

/**
 * Reads a body of at most `bytesMax` bytes piece by piece. Throws `payload_too_large` as soon as the limit is exceeded,
 * `payload_too_complex` for millions of pieces, and `request_timeout` if the caller falls silent.
 */
export const consumeBody = async (req: IncomingMessage, reading: BodyReading): Promise<void> => {
  const { bytesMax } = reading;
  if (Number(req.headers['content-length'] ?? '0') > bytesMax) throw tooLarge(bytesMax);
  if (!req.complete || req.readableFlowing !== null) return await consumePieces(req, reading);
  // Fast path for a body that arrived with the head, as most do. Stream events would cost more than the rest of the
  // reading.
  const bytes: Buffer | null = req.read();
  if (bytes === null) return;
  if (bytes.length > bytesMax) throw tooLarge(bytesMax);
  await reading.onChunk(bytes);
};

const consumePieces = (
  req: IncomingMessage,
  { bytesMax, idleTimeoutMs = IDLE_TIMEOUT_MS, onChunk, onPieces }: BodyReading,
): Promise<void> =>
  new Promise((resolve, reject) => {
    let bytes = 0;
    let pieces = 0;
    let turnEndsAt = TURN_BYTES;
    const settle = (act: () => void): void => {
      clearTimeout(idle);
      req.pause().off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
      act();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const onData = (chunk: Buffer): void => {
      idle.refresh();
      bytes += chunk.length;
      pieces += 1;
      if (bytes > bytesMax) {
        fail(tooLarge(bytesMax));
        return;
      }
      if (pieces > PIECES_FREE + bytes / PIECE_BYTES_MEAN_MIN) {
        // Discarding the rest would cost as much as reading it.
        fail(new AppError('payload_too_complex', undefined, { headers: { connection: 'close' } }));
        return;
      }
      try {
        const held = onChunk(chunk) ?? (bytes >= turnEndsAt ? nextTurn() : undefined);
        if (held === undefined) return;
        turnEndsAt = bytes + TURN_BYTES;
        holdBack(held);
      } catch (error) {
        fail(error);
      }
    };
    const holdBack = (held: Promise<void>): void => {
      req.pause();
      held.then(() => {
        idle.refresh();
        req.resume();
      }, fail);
    };
    const onEnd = (): void => settle(resolve);
    const onLost = (): void => fail(new RequestAborted());
    const idle = setTimeout(() => {
      if (req.isPaused()) idle.refresh();
      else fail(new RequestTimeout());
    }, idleTimeoutMs);
    onPieces?.(fail);
    req.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
  });

/**
 * Discards the rest of an unread body, since the sender may read the response only after sending all of it. Pauses
 * between turns, and closes the connection if the body comes in millions of pieces.
 */
export const discardBody = (req: IncomingMessage): void => {
  if (req.complete || req.destroyed || req.listenerCount('data') > 0 || req.listenerCount('readable') > 0) return;
  let turnEndsAt = TURN_BYTES;
  let bytes = 0;
  consumePieces(req, {
    bytesMax: Number.POSITIVE_INFINITY,
    onChunk: (chunk) => {
      bytes += chunk.length;
      freeBuffer(chunk);
      if (bytes < turnEndsAt) return undefined;
      turnEndsAt = bytes + TURN_BYTES;
      return sleep(DISCARD_PAUSE_MS);
    },
  }).catch(() => req.socket.destroy());
  req.resume();
};

/** Memory for the unfinished bodies of all requests of the process. */
const UNFINISHED_BYTES_MAX = 64 * 1024 * 1024;
/** Smaller bodies do not count and never give way: their connections cost as much. */
const COUNTED_BYTES_MIN = 16 * 1024;

/** A body in memory, whose rest has not arrived yet. */
interface UnfinishedBody {
  bytes: number;
  readonly fail: (error: AppError) => void;
}

/** In the order in which they began to count. */
const unfinished = new Set<UnfinishedBody>();
let unfinishedBytes = 0;

/**
 * Counts the bytes of an unfinished body. Beyond the memory for all of them, the oldest one ends: strangers may send bodies but for
 * their last byte, and each connection may take minutes.
 */
const countUnfinished = (body: UnfinishedBody, bytes: number): void => {
  unfinished.add(body);
  unfinishedBytes += bytes - body.bytes;
  body.bytes = bytes;
  if (unfinishedBytes <= UNFINISHED_BYTES_MAX) return;
  const [oldest = body] = unfinished;
  forgetUnfinished(oldest);
  oldest.fail(new RequestTimeout());
};

const forgetUnfinished = (body: UnfinishedBody): void => {
  if (unfinished.delete(body)) unfinishedBytes -= body.bytes;
};

/** Reads a whole body into memory. Throws as `consumeBody` does, and `request_timeout` if too much memory waits for callers. */
export const readBodyBytes = async (
  req: IncomingMessage,
  bytesMax: number,
  idleTimeoutMs = IDLE_TIMEOUT_MS,
): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let body: UnfinishedBody | undefined;
  const onPieces = (fail: UnfinishedBody['fail']): void => {
    body = { bytes: 0, fail };
  };
  const onChunk = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (body !== undefined && bytes >= COUNTED_BYTES_MIN) countUnfinished(body, bytes);
  };
  try {
    await consumeBody(req, { bytesMax, idleTimeoutMs, onChunk, onPieces });
  } catch (error) {
    for (const chunk of chunks) freeBuffer(chunk);
    throw error;
  } finally {
    if (body !== undefined) forgetUnfinished(body);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
};

/** Status recorded if the caller disconnects before the response; never sent. */
export const STATUS_CALLER_GONE = 499;

/** Thrown if the caller disconnects before its request is complete. */
export class RequestAborted extends Error {
  readonly code = 'request_aborted';

  constructor() {
    super('the caller disconnected while sending');
    this.name = 'RequestAborted';
  }
}

/** Thrown if the caller falls silent before its request is complete. The connection is closed. */
export class RequestTimeout extends AppError {
  constructor() {
    super('request_timeout', undefined, { headers: { connection: 'close' } });
  }
}

const tooLarge = (bytesMax: number): AppError =>
  new AppError('payload_too_large', `The body may have at most ${bytesMax} bytes.`, {
    details: { bytes_max: bytesMax },
  });
