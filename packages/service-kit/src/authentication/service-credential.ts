import { timingSafeEqual } from 'node:crypto';
import { AppError } from '../app-error.ts';
import type { Authenticate, ServiceCaller } from '../http/binding.ts';

/** Accepts any of the service credentials. Of what is sent, only its length decides how long comparing takes. */
export const createServiceAuthenticator = (tokens: readonly string[]): Authenticate<ServiceCaller> => {
  if (tokens.length === 0) throw new Error('at least one service credential is needed');
  const accepted = tokens.map((token) => Buffer.from(token));
  return async (credential) => {
    const presented = Buffer.from(credential);
    const matches = accepted.filter((token) => token.length === presented.length && timingSafeEqual(token, presented));
    if (matches.length === 0) throw new AppError('invalid_token', 'The service credential is wrong.');
    return { kind: 'service' };
  };
};
