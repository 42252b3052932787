import { type ManagementScope, managementScopes } from '@svc/contracts';
import { AppError, type Authenticators, type ManagementKeyCaller } from '../../src/index.ts';

/** Accepts tokens that are named after their properties, such as `svc_mk_apps:read`. */
export const testAuthenticators: Authenticators = {
  console_session: async (token) => {
    const scope = managementScopes.find((name) => token === `svc_mk_${name}`);
    if (scope !== undefined) return managementKey(scope);
    if (!/^session-(business|personal|unverified)$/.test(token)) throw new AppError('invalid_token');
    const accountType = token === 'session-business' ? 'business' : 'personal';
    const isEmailUnverified = token === 'session-unverified';
    const ids = { userId: 'usr_1', personId: 'usr_1', sessionId: 'ses_1', organization: null };
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

const managementKey = (scope: ManagementScope): ManagementKeyCaller => ({
  kind: 'management_key',
  keyId: 'mk_1',
  userId: 'usr_1',
  personId: 'usr_1',
  sessionId: 'ses_1',
  accountType: scope.startsWith('apps') ? 'business' : 'personal',
  isEmailUnverified: false,
  scopes: new Set([scope]),
  expiresAt: null,
});
