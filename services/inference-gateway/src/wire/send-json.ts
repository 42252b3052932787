import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Up to this size, head and body leave in one write, which costs less than copying the body. */
const COPIED_BYTES_MAX = 12 * 1024;

/** Sends a JSON text, whole or in pieces. Does nothing once the caller has gone. */
export const sendJsonText = (
  res: ServerResponse,
  body: string | Buffer | readonly Buffer[],
  { status = 200, headers = {} }: { readonly status?: number; readonly headers?: OutgoingHttpHeaders } = {},
): void => {
  if (res.destroyed) return;
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : Buffer.isBuffer(body) ? [body] : body;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  res.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': length,
  });
  if (length <= COPIED_BYTES_MAX) {
    // One character to a byte: the bytes go out as they are.
    res.end(pieces.map((piece) => piece.toString('latin1')).join(''), 'latin1');
    return;
  }
  for (const piece of pieces) res.write(piece);
  res.end();
};
