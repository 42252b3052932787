import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Up to this size, head and body leave in one write, which costs less than copying the body. */
const COPIED_BYTES_MAX = 12 * 1024;
/** Bytes that are written before the caller has to take them. */
const SLICE_BYTES = 256 * 1024;

export interface JsonSending {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** After so long without reading, the caller's connection is closed. */
  readonly idleTimeoutMs: number;
  /** Called with the number of bytes that the caller's connection has taken. */
  readonly onTaken?: (bytes: number) => void;
}

/**
 * Sends a JSON text, whole or in pieces, as fast as the caller takes it. Resolves when the caller's connection has taken all of it,
 * or the caller has gone.
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
  // One character to a byte: the bytes go out as they are.
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
