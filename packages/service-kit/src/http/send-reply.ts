import type { ServerResponse } from 'node:http';
import type { ReplyContent } from './binding.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

export const sendJson = (res: ServerResponse, status: number, body: unknown): void => {
  const text = JSON.stringify(body);
  const type = res.hasHeader('content-type') ? {} : { 'content-type': JSON_TYPE };
  res.writeHead(status, { ...type, 'content-length': Buffer.byteLength(text) });
  // As text, so that head and body leave in one write.
  res.end(text);
};

export const sendReply = (res: ServerResponse, reply: ReplyContent): void => {
  const { status, body, headers = {}, contentType } = reply;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (contentType !== undefined) res.setHeader('content-type', contentType);
  if (body === undefined) {
    res.statusCode = status;
    res.end();
    return;
  }
  if (contentType !== undefined && (typeof body === 'string' || body instanceof Uint8Array)) {
    res.writeHead(status, { 'content-length': Buffer.byteLength(body) });
    res.end(body);
    return;
  }
  sendJson(res, status, body);
};
