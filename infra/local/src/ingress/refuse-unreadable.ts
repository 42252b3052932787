import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Statuses with which Node answers parser errors. All others are 400. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export interface Unreadable {
  readonly socket: Duplex;
  readonly error: NodeJS.ErrnoException;
  readonly requestId: string;
  readonly answers: readonly ServerResponse[];
}

/** Answers as Node would, with a request id, and closes the connection. If an answer has begun, only closes it. */
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
