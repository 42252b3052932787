import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { HANDLED, type Reply, type ReplyContent, type RequestContext } from './binding.ts';

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

/** Writes a part of a body, and waits while the reader is behind. Rejects if the reader goes away or stops reading. */
export type WriteText = (text: string) => Promise<void>;

/** Longest wait for a reader that is behind. Below the time that a transaction may be idle, which feeds many streams. */
const STALLED_MS = 20_000;
/** Head of a body that is kept back, so that a failure at the beginning still gets a status. */
const HEAD_CHARACTERS = 64 * 1024;

interface JsonStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly stalledMs?: number;
}

/**
 * Answers 200 with a JSON body that `produce` writes piece by piece. A failure within the first 64 KiB is answered as usual;
 * a later one is logged and resets the connection, so that the reader sees an incomplete body.
 */
export const sendJsonStream = async (
  { res, signal }: Pick<RequestContext<never>, 'res' | 'signal'>,
  produce: (write: WriteText) => Promise<void>,
  { headers = {}, stalledMs = STALLED_MS }: JsonStreamOptions = {},
): Promise<Reply> => {
  let head = '';
  let hasReader = true;
  const send: WriteText = async (text) => {
    signal.throwIfAborted();
    if (!res.headersSent) res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...headers });
    if (res.write(text)) return;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(stalledMs)]);
    await once(res, 'drain', { signal: patience }).catch((error: unknown) => {
      hasReader = false;
      throw error;
    });
  };
  try {
    await produce(async (text) => {
      if (!res.headersSent && head.length + text.length < HEAD_CHARACTERS) head += text;
      else {
        const kept = head;
        head = '';
        await send(kept + text);
      }
    });
    if (head !== '') await send(head);
  } catch (error) {
    if (!res.headersSent) throw error;
    // A body without chunks ends with the connection: only a reset keeps it from looking whole.
    res.socket?.resetAndDestroy();
    if (!hasReader || signal.aborted) return HANDLED;
    throw error;
  }
  res.end();
  return HANDLED;
};
