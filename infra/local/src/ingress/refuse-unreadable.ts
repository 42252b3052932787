import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** The statuses that Node itself has for what its parser refuses; all else is 400. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** A connection on which something came that is no HTTP. */
export interface Unreadable {
  readonly socket: Duplex;
  readonly error: NodeJS.ErrnoException;
  readonly requestId: string;
  /** Answers of this connection that have not ended. */
  readonly answers: readonly ServerResponse[];
}

/** Answers as Node would, but under a request id, and ends the connection; an answer that has begun is only broken off. */
export const refuseUnreadable = ({ socket, error, requestId, answers }: Unreadable): void => {
  const hasBegun = answers.some(({ headersSent, writableFinished }) => headersSent && !writableFinished);
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ''] ?? 400;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nx-request-id: ${requestId}\r\n`;
  socket.end(`${head}content-length: 0\r\nconnection: close\r\n\r\n`, () => socket.destroy());
};
