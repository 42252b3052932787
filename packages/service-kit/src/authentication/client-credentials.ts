import { AppError } from '../app-error.ts';
import { BASIC_CHALLENGE } from '../http/authorize.ts';
import type { Authenticate, ClientCredentialsCaller } from '../http/binding.ts';

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
