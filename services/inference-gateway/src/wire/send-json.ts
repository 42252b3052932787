import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

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
  res.end(body);
};
