import { hash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../app-error.ts';
import type { Authenticate, ServiceCaller } from '../http/binding.ts';

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Accepts any of the service credentials; comparing digests takes the same time whatever is sent. */
export const createServiceAuthenticator = (tokens: readonly string[]): Authenticate<ServiceCaller> => {
  if (tokens.length === 0) throw new Error('at least one service credential is needed');
  const digests = tokens.map(digest);
  return async (credential) => {
    const presented = digest(credential);
    const matches = digests.filter((expected) => timingSafeEqual(expected, presented));
    if (matches.length === 0) throw new AppError('invalid_token', 'The service credential is wrong.');
    return { kind: 'service' };
  };
};
