import { AppError, type Authenticators } from '../../src/index.ts';

/** Accepts five tokens, named after their properties. */
export const testAuthenticators: Authenticators = {
  console_session: async (token) => {
    if (!/^session-(business|personal|unverified)$/.test(token)) throw new AppError('invalid_token');
    const accountType = token === 'session-business' ? 'business' : 'personal';
    const isEmailUnverified = token === 'session-unverified';
    const ids = { userId: 'usr_1', sessionId: 'ses_1' };
    const times = { authenticatedAt: new Date(0), expiresAt: new Date(0) };
    return { kind: 'console_session', ...ids, accountType, isEmailUnverified, ...times };
  },
  oauth_access_token: async (token) => {
    if (!token.startsWith('access-')) throw new AppError('invalid_token');
    const scopes = new Set(token === 'access-inference' ? ['inference'] : ['usage:read']);
    return {
      kind: 'oauth_access_token',
      userId: 'usr_1',
      clientId: 'app_1',
      grantId: 'grt_1',
      tokenId: 't',
      scopes,
      expiresAt: new Date(0),
    };
  },
  api_key: async (token) => {
    if (token === 'unreachable') throw new AppError('service_unavailable');
    if (token !== 'svc_sk_good') throw new AppError('invalid_api_key');
    return { kind: 'api_key', keyId: 'key_1', userId: 'usr_1' };
  },
};
