import type { IncomingMessage } from 'node:http';
import { RequestTimeout } from '@svc/service-kit';

/** Reads a body piece by piece. An early end leaves the connection open, for the answer; throws `request_timeout` where nothing more comes. */
export async function* readPieces(req: IncomingMessage, idleTimeoutMs: number): AsyncGenerator<Buffer> {
  const pieces = req.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const piece = await within(idleTimeoutMs, pieces.next());
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    // Lets go of the request, so that the rest of it can be thrown away; not awaited, as it waits for a piece that is waited for.
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
