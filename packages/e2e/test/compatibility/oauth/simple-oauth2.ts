import { createHash, randomBytes } from 'node:crypto';
import { type AccessToken, AuthorizationCode } from 'simple-oauth2';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import type { Recipe, RegisteredApp, StockClient } from './stock-client.ts';

export const simpleOauth2: Recipe = {
  name: versioned('simple-oauth2'),
  clientType: 'confidential',
  features: ['Refresh', 'Revoke'],
  settings:
    'the paths, as it does not discover them; a `state` of 16 characters or more; PKCE as further parameters of ' +
    '`authorizeURL` and `getToken`',
  example: { title: 'simple-oauth2', source: 'simple-oauth2' },
  create: ({ clientId, clientSecret, redirectUri }: RegisteredApp): StockClient => {
    const issuer = inject('origin');
    // #region example
    const client = new AuthorizationCode({
      client: { id: clientId, secret: clientSecret },
      auth: {
        tokenHost: issuer,
        authorizePath: '/v1/integrations/oauth/authorize',
        tokenPath: '/v1/integrations/oauth/token',
        revokePath: '/v1/integrations/oauth/revoke',
      },
    });
    const begin = (state: string, verifier: string): string => {
      const pkce = {
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      return client.authorizeURL({ redirect_uri: redirectUri, scope: 'inference usage:read', state, ...pkce });
    };
    const finish = (code: string, verifier: string): Promise<AccessToken> => {
      const pkce = { code_verifier: verifier };
      return client.getToken({ code, redirect_uri: redirectUri, ...pkce });
    };
    // #endregion
    let current: AccessToken;
    const keep = (next: AccessToken) => {
      current = next;
      return { accessToken: String(next.token['access_token']), refreshToken: String(next.token['refresh_token']) };
    };
    return {
      connect: async (visit) => {
        const verifier = randomBytes(32).toString('base64url');
        const callback = await visit(begin(randomBytes(16).toString('base64url'), verifier));
        return keep(await finish(callback.searchParams.get('code') ?? '', verifier));
      },
      refresh: async () => keep(await current.refresh()),
      revoke: () => current.revoke('refresh_token'),
    };
  },
};
