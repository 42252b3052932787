import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { FORM_BYTES_MAX } from '@svc/contracts';
import { readBodyBytes } from '@svc/service-kit';

/**
 * Reads a form whole, and lets the library find it where it reads for itself. Left to the library, what is too long would stay
 * half read in the connection, which then fails whoever uses it next. Throws `payload_too_large`.
 */
export const readFormAhead = async (req: IncomingMessage): Promise<void> => {
  const bytes = await readBodyBytes(req, FORM_BYTES_MAX);
  Object.defineProperties(req, { readable: { value: true }, iterator: { value: () => Readable.from([bytes]) } });
};
