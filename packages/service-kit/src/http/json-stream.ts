import { once } from 'node:events';
import { HANDLED, type Reply, type RequestContext } from './binding.ts';

/** Writes a part of a body, and waits while the reader is behind. Rejects if the caller goes away. */
export type WriteText = (text: string) => Promise<void>;

/**
 * Answers 200 with a JSON body that `produce` writes piece by piece. A failure before the first piece is answered as usual;
 * a later one ends the connection, so that the reader sees an incomplete body.
 */
export const sendJsonStream = async (
  { res, signal }: Pick<RequestContext<never>, 'res' | 'signal'>,
  produce: (write: WriteText) => Promise<void>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> => {
  try {
    await produce(async (text) => {
      signal.throwIfAborted();
      if (!res.headersSent) res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...headers });
      if (!res.write(text)) await once(res, 'drain', { signal });
    });
  } catch (error) {
    if (!res.headersSent) throw error;
    res.destroy(error instanceof Error ? error : undefined);
    return HANDLED;
  }
  res.end();
  return HANDLED;
};
