import type { IncomingMessage } from 'node:http';
import { RequestTimeout } from '@svc/service-kit';

/**
 * Reads a body piece by piece. Stopping early keeps the connection open for the answer. Throws `request_timeout` if the
 * caller stops sending.
 */
export async function* readPieces(req: IncomingMessage, idleTimeoutMs: number): AsyncGenerator<Buffer> {
  const pieces = req.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const piece = await within(idleTimeoutMs, pieces.next());
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    // Detaches from the request, so that the rest can be discarded. Not awaited: it would wait for the pending read.
    void pieces.return?.()?.catch(() => {});
  }
}

const within = async <T>(timeoutMs: number, promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new RequestTimeout()), timeoutMs);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
};
