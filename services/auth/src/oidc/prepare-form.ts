import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { FORM_BYTES_MAX } from '@svc/contracts';
import { readBodyBytes } from '@svc/service-kit';

const namedByBasic = new WeakSet<IncomingMessage>();

/**
 * Parameters of OpenID Connect that a pushed request may carry. The authorize page ignores them, as RFC 6749 section 3.1
 * asks; the library would refuse them without the scope `openid`.
 */
const UNREAD = ['acr_values', 'claims', 'claims_locales', 'display', 'id_token_hint', 'login_hint', 'max_age', 'nonce'];

/**
 * Reads the whole form and passes its bytes to the library. The library would leave an oversized form half-read, which
 * breaks the next request on the connection. Throws `payload_too_large`.
 */
export const prepareForm = async (req: IncomingMessage): Promise<void> => {
  const whole = await readBodyBytes(req, FORM_BYTES_MAX);
  const sent = req.url?.split('?', 1)[0]?.endsWith('/par') === true ? withoutUnread(whole) : whole;
  const bytes = Buffer.concat([moveClientIdFromBasic(req, sent), sent]);
  if (req.headers['content-length'] !== undefined) req.headers['content-length'] = String(bytes.length);
  Object.defineProperties(req, { readable: { value: true }, iterator: { value: () => Readable.from([bytes]) } });
};

const withoutUnread = (form: Buffer): Buffer => {
  const fields = new URLSearchParams(form.toString());
  if (!UNREAD.some((name) => fields.has(name))) return form;
  for (const name of UNREAD) fields.delete(name);
  return Buffer.from(fields.toString());
};

/** Returns true if the request named its client by HTTP Basic with an empty secret. */
export const hasNamedClientByBasic = (req: IncomingMessage): boolean => namedByBasic.has(req);

/**
 * Moves the client id of an `Authorization: Basic` header without a secret into a form field. Some common libraries
 * send it for public clients: it identifies the client and proves nothing, like `client_id` (RFC 6749 section 2.3.1).
 */
const moveClientIdFromBasic = (req: IncomingMessage, form: Buffer): Buffer => {
  const encoded = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(req.headers.authorization ?? '')?.[1];
  const credentials = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const clientId = /^([A-Za-z0-9_.~%-]+):$/.exec(credentials)?.[1];
  if (clientId === undefined) return Buffer.alloc(0);
  const fields = new URLSearchParams(form.toString());
  // The library refuses the header beside a secret in the form: those are two methods.
  if (fields.getAll('client_secret').some((secret) => secret !== '')) return Buffer.alloc(0);
  delete req.headers.authorization;
  namedByBasic.add(req);
  if (fields.get('client_id') === clientId) return Buffer.alloc(0);
  return Buffer.from(`client_id=${clientId}&`);
};
