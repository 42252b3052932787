import { createHash, randomBytes } from 'node:crypto';
import { type AccessToken, AuthorizationCode } from 'simple-oauth2';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import { type Recipe, type RegisteredApp, SCOPE, type StockClient } from './stock-client.ts';

export const simpleOauth2: Recipe = {
  name: versioned('simple-oauth2'),
  clientType: 'confidential',
  features: ['Refresh', 'Revoke'],
  settings:
    'the paths, as it does not discover them; a `state` of 16 characters or more; PKCE as further parameters of ' +
    '`authorizeURL` and `getToken`',
  create: ({ clientId, clientSecret, redirectUri }: RegisteredApp): StockClient => {
    const client = new AuthorizationCode({
      client: { id: clientId, secret: clientSecret },
      auth: {
        tokenHost: inject('origin'),
        authorizePath: '/v1/integrations/oauth/authorize',
        tokenPath: '/v1/integrations/oauth/token',
        revokePath: '/v1/integrations/oauth/revoke',
      },
    });
    let current: AccessToken;
    const keep = (next: AccessToken) => {
      current = next;
      return { accessToken: String(next.token['access_token']), refreshToken: String(next.token['refresh_token']) };
    };
    return {
      connect: async (visit) => {
        const verifier = randomBytes(32).toString('base64url');
        const pkce = {
          code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
        };
        const state = randomBytes(16).toString('base64url');
        const callback = await visit(client.authorizeURL({ redirect_uri: redirectUri, scope: SCOPE, state, ...pkce }));
        const answer = { redirect_uri: redirectUri, code: callback.searchParams.get('code') ?? '' };
        return keep(await client.getToken({ ...answer, ...{ code_verifier: verifier } }));
      },
      refresh: async () => keep(await current.refresh()),
      revoke: () => current.revoke('refresh_token'),
    };
  },
};
