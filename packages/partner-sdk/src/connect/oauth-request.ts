import { readBytes } from '../bytes.ts';
import { accepts, object, text } from '../shape.ts';
import { ConnectError, toConnectError } from './connect-error.ts';

const ANSWER_BYTES_MAX = 64 * 1024;

export interface OAuthTransport {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

const oauthErrorShape = object({ error: text(1) });

/** Posts a form to an OAuth endpoint and returns its JSON answer. Throws `ConnectError`. */
export const postForm = async (
  transport: OAuthTransport,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<unknown> => {
  const { issuer, clientId, clientSecret } = transport;
  const form = new URLSearchParams({ ...fields, client_id: clientId });
  if (clientSecret !== undefined) form.set('client_secret', clientSecret);
  let response: Response;
  let body: unknown;
  try {
    response = await transport.fetch(addressOf(issuer, path), {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: form,
      // Never send the secret or a token to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(transport.timeoutMs),
    });
    body = parse(await readBytes(response.body, ANSWER_BYTES_MAX));
  } catch (cause) {
    throw new ConnectError(cause instanceof RangeError ? 'rejected' : 'unavailable', { cause });
  }
  // A pushed request is created.
  if (response.status === 200 || response.status === 201) return body;
  if (response.status === 429 || response.status >= 500) throw new ConnectError('unavailable');
  if (accepts(oauthErrorShape, body)) throw toConnectError(body.error);
  throw new ConnectError(response.status === 401 ? 'misconfigured' : 'rejected');
};

/** Appends a path of the contract to the address of the service. */
export const addressOf = (base: URL, path: string): URL => new URL(base.href.replace(/\/$/, '') + path);

const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // The status alone decides.
    return undefined;
  }
};
