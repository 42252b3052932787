import { hash, timingSafeEqual } from 'node:crypto';
import { type InternalCaller, internalCallers } from '@svc/contracts';
import { AppError } from '../app-error.ts';
import { BASIC_CHALLENGE } from '../http/authorize.ts';
import type { Authenticate, ClientCredentialsCaller, ServiceCaller } from '../http/binding.ts';

/** Checks the secret of an app. Throws kind `unavailable` if it cannot. */
export type CheckClientSecret = (clientId: string, secret: string) => Promise<boolean>;

/** Authenticates apps by id and secret in HTTP Basic (RFC 6749 section 2.3.1). Throws `invalid_token`. */
export const createClientAuthenticator =
  (checkSecret: CheckClientSecret): Authenticate<ClientCredentialsCaller> =>
  async (credential) => {
    const text = Buffer.from(credential, 'base64').toString();
    const [, clientId = '', secret = ''] = /^([A-Za-z0-9_]{1,128}):([!-~]{1,256})$/.exec(text) ?? [];
    const isAuthentic = clientId !== '' && (await checkSecret(clientId, secret));
    if (!isAuthentic) {
      throw new AppError('invalid_token', undefined, { headers: { 'www-authenticate': BASIC_CHALLENGE } });
    }
    return { kind: 'client_credentials', clientId };
  };

/** `<caller>:<secret>`. The secret has at least 16 characters and needs no escaping in a shell, URL or header. */
export const SERVICE_CREDENTIAL = /^([a-z-]+):([\w.-]{16,256})$/;
/** An accepted credential: in plain text, or as `<caller>:sha256:<SHA-256 of the secret, in hex>`. */
export const ACCEPTED_CREDENTIAL = /^([a-z-]+):(?:sha256:([0-9a-f]{64})|([\w.-]{16,256}))$/;

/**
 * Authenticates the credentials of INTERNAL_API_TOKENS and returns the caller. A caller may have several credentials at
 * once, so that each can be rotated. Compares digests in constant time.
 */
export const createServiceAuthenticator = (accepted: readonly string[]): Authenticate<ServiceCaller> => {
  const digests = Map.groupBy(accepted.map(parseAccepted), ({ caller }) => caller);
  return async (credential) => {
    const [, caller = '', secret = ''] = SERVICE_CREDENTIAL.exec(credential) ?? [];
    const presented = sha256(secret);
    const known = (isInternalCaller(caller) && digests.get(caller)) || [];
    // Every digest is compared, so timing does not reveal a match.
    const matches = known.filter(({ digest }) => timingSafeEqual(digest, presented));
    if (!isInternalCaller(caller) || matches.length === 0) {
      throw new AppError('invalid_token', 'The service credential is unknown.');
    }
    return { kind: 'service', name: caller };
  };
};

const parseAccepted = (item: string): { readonly caller: InternalCaller; readonly digest: Buffer } => {
  const [, caller = '', digest, secret = ''] = ACCEPTED_CREDENTIAL.exec(item) ?? [];
  // The item is not quoted: it may contain a secret.
  if (!isInternalCaller(caller)) throw new Error('an accepted service credential is malformed');
  return { caller, digest: digest === undefined ? sha256(secret) : Buffer.from(digest, 'hex') };
};

const isInternalCaller = (name: string): name is InternalCaller => internalCallers.some((caller) => caller === name);

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
