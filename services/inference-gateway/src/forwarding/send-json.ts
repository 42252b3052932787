import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Up to this size, headers and body are sent in one write, which saves more than copying the body costs. */
const COPIED_BYTES_MAX = 12 * 1024;
/** Bytes per write. */
const SLICE_BYTES = 256 * 1024;

interface JsonSending {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** The connection is closed if the caller reads nothing for this long. */
  readonly idleTimeoutMs: number;
  /** Called with the number of bytes that the caller's connection has accepted. */
  readonly onTaken?: (bytes: number) => void;
}

/**
 * Sends a JSON text, whole or in pieces, with backpressure from the caller. Resolves when the connection has accepted all of
 * it, or the caller has disconnected.
 */
export const sendJsonText = async (
  res: ServerResponse,
  body: string | Buffer | readonly Buffer[],
  { status = 200, headers = {}, ...sending }: JsonSending,
): Promise<void> => {
  if (res.destroyed) return;
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : Buffer.isBuffer(body) ? [body] : body;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  res.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': length,
  });
  if (length > COPIED_BYTES_MAX) await sendSlices(res, slicesOf(pieces), sending);
  // Latin-1 maps each byte to one character and back, so the bytes are unchanged.
  else res.end(pieces.map((piece) => piece.toString('latin1')).join(''), 'latin1');
};

function* slicesOf(pieces: readonly Buffer[]): Generator<Buffer, undefined> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += SLICE_BYTES) yield piece.subarray(at, at + SLICE_BYTES);
  }
}

const sendSlices = (
  res: ServerResponse,
  slices: Iterator<Buffer, undefined>,
  { idleTimeoutMs, onTaken }: Pick<JsonSending, 'idleTimeoutMs' | 'onTaken'>,
): Promise<void> =>
  new Promise((resolve) => {
    let written = 0;
    const idle = setTimeout(() => res.destroy(), idleTimeoutMs);
    const writeMore = (): void => {
      idle.refresh();
      onTaken?.(written);
      written = 0;
      for (let slice = slices.next().value; slice !== undefined; slice = slices.next().value) {
        written += slice.length;
        if (!res.write(slice)) return;
      }
      res.off('drain', writeMore).end();
    };
    res.on('drain', writeMore).once('close', () => {
      clearTimeout(idle);
      resolve();
    });
    writeMore();
  });
