import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { FORM_BYTES_MAX } from '@svc/contracts';
import { readBodyBytes } from '@svc/service-kit';

const namedByBasic = new WeakSet<IncomingMessage>();

/**
 * Reads a form whole and hands its bytes to the library, where it reads the request itself. Left to the library, a form
 * that is too long would stay half read in the connection and break the next request. Throws `payload_too_large`.
 */
export const prepareForm = async (req: IncomingMessage): Promise<void> => {
  const sent = await readBodyBytes(req, FORM_BYTES_MAX);
  const bytes = Buffer.concat([moveClientIdFromBasic(req), sent]);
  if (req.headers['content-length'] !== undefined) req.headers['content-length'] = String(bytes.length);
  Object.defineProperties(req, { readable: { value: true }, iterator: { value: () => Readable.from([bytes]) } });
};

/** Says whether the request named its client by HTTP Basic with an empty secret. */
export const hasNamedClientByBasic = (req: IncomingMessage): boolean => namedByBasic.has(req);

/**
 * Takes an `Authorization: Basic` header without a secret off the request and returns it as a form field. Some stock
 * libraries send it for public clients: it names the client and proves nothing, as `client_id` does (RFC 6749 section 2.3.1).
 */
const moveClientIdFromBasic = (req: IncomingMessage): Buffer => {
  const encoded = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(req.headers.authorization ?? '')?.[1];
  const credentials = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const clientId = /^([A-Za-z0-9_.~%-]+):$/.exec(credentials)?.[1];
  if (clientId === undefined) return Buffer.alloc(0);
  delete req.headers.authorization;
  namedByBasic.add(req);
  return Buffer.from(`client_id=${clientId}&`);
};
