import type { IncomingMessage } from 'node:http';

const named = new WeakSet<IncomingMessage>();

/**
 * Public apps have no secret, and some stock libraries send one that is empty, by HTTP Basic: it names the app and proves
 * nothing, as a `client_id` in the form does (RFC 6749 section 2.3.1). So it is put there, where the library looks.
 */
export const nameClientInForm = (req: IncomingMessage): void => {
  const clientId = readBasicWithoutSecret(req.headers.authorization);
  if (clientId === undefined) return;
  const field = Buffer.from(`client_id=${clientId}&`);
  req.unshift(field);
  const length = req.headers['content-length'];
  if (length !== undefined) req.headers['content-length'] = String(Number(length) + field.length);
  delete req.headers.authorization;
  named.add(req);
};

/** Whether a request named its app by HTTP Basic, with no secret. */
export const hasNamedClientInForm = (req: IncomingMessage): boolean => named.has(req);

/** The client id in `Basic base64("<client id>:")`, in the encoding of forms, as it stands there. */
const readBasicWithoutSecret = (authorization: string | undefined): string | undefined => {
  const encoded = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  return /^([A-Za-z0-9_.~%-]+):$/.exec(Buffer.from(encoded, 'base64').toString())?.[1];
};
