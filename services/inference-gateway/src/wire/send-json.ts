import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Up to this size, head and body leave in one write, which costs less than copying the body. */
const COPIED_BYTES_MAX = 12 * 1024;

/** Sends JSON that is text already. Does nothing once the caller has gone. */
export const sendJsonText = (
  res: ServerResponse,
  body: string | Buffer,
  { status = 200, headers = {} }: { readonly status?: number; readonly headers?: OutgoingHttpHeaders } = {},
): void => {
  if (res.destroyed) return;
  res.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  // One character to a byte: the bytes go out as they are.
  if (typeof body !== 'string' && body.length <= COPIED_BYTES_MAX) res.end(body.toString('latin1'), 'latin1');
  else res.end(body);
};
