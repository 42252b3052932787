import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { freeBuffer } from '@svc/service-kit';

/** Callbacks of a body being sent. */
interface BodyWriting {
  readonly onSent: () => void;
  /** The stream failed or was interrupted, so the request is incomplete. */
  readonly onError: (error: Error) => void;
}

const CRLF = '\r\n';
const LAST_CHUNK = `0${CRLF}${CRLF}`;

/**
 * Sends a stream in chunks (RFC 9112 section 7.1) with backpressure, and frees the memory of each piece once sent.
 * Returns a function that stops it.
 */
export const writeInChunks = (socket: Socket, body: Readable, { onSent, onError }: BodyWriting): (() => void) => {
  const onData = (piece: Buffer | string): void => {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (bytes.length === 0) return;
    socket.cork();
    socket.write(`${bytes.length.toString(16)}${CRLF}`, 'latin1');
    socket.write(bytes, () => freeBuffer(bytes));
    const hasRoom = socket.write(CRLF, 'latin1');
    socket.uncork();
    if (!hasRoom) body.pause();
  };
  const onDrain = (): void => {
    body.resume();
  };
  const onBodyEnd = (): void => {
    stop();
    socket.write(LAST_CHUNK, 'latin1');
    onSent();
  };
  const onBodyError = (error: Error): void => {
    stop();
    onError(error);
  };
  const onBodyClose = (): void => onBodyError(new Error('the request body was interrupted'));
  const stop = (): void => {
    body.off('data', onData).off('end', onBodyEnd).off('error', onBodyError).off('close', onBodyClose);
    // A late error has no receiver and must not become an uncaught one.
    body.on('error', () => {});
    socket.off('drain', onDrain);
  };
  body.on('end', onBodyEnd).on('error', onBodyError).on('close', onBodyClose);
  socket.on('drain', onDrain);
  body.on('data', onData);
  return () => {
    stop();
    body.destroy();
  };
};
