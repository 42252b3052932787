import { Auth, type AuthConfig, skipCSRFCheck } from '@auth/core';
import type { OAuthConfig } from '@auth/core/providers';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import type { Recipe, RegisteredApp, StockClient, Tokens } from './stock-client.ts';

const SITE = 'https://partner.example';

export const authJs: Recipe = {
  name: versioned('@auth/core'),
  clientType: 'confidential',
  redirectUri: `${SITE}/auth/callback/svc`,
  features: ['Denial'],
  settings:
    "`type: 'oauth'`, `issuer`, `checks: ['pkce', 'state']`, and a `userinfo.request` that returns " +
    '`{ id: tokens.svc_user_id }`',
  example: { title: 'Auth.js', source: 'auth-js' },
  create: (app: RegisteredApp): StockClient => ({
    connect: async (visit) => {
      let tokens: Tokens | undefined;
      const config = partnerConfig(app, (next) => {
        tokens = next;
      });
      const started = await Auth(new Request(`${SITE}/auth/signin/svc`, { method: 'POST' }), config);
      const cookie = started.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
      const callback = await visit(String(started.headers.get('location')));
      const answer = await Auth(new Request(callback, { headers: { cookie } }), config);
      if (tokens === undefined) throw new Error(String(answer.headers.get('location')));
      return tokens;
    },
  }),
};

const partnerConfig = (app: RegisteredApp, onTokens: (tokens: Tokens) => void): AuthConfig => ({
  basePath: '/auth',
  trustHost: true,
  secret: 'a secret of the partner for its session cookies',
  skipCSRFCheck,
  logger: { error: () => {} },
  providers: [svcProvider(inject('origin'), app)],
  callbacks: {
    jwt: ({ token, account }) => {
      if (account?.access_token !== undefined && account.refresh_token !== undefined) {
        onTokens({ accessToken: account.access_token, refreshToken: account.refresh_token });
      }
      return token;
    },
  },
});

const svcProvider = (issuer: string, { clientId, clientSecret }: RegisteredApp) => {
  // #region example
  const provider: OAuthConfig<{ id: string }> = {
    id: 'svc',
    name: 'svc',
    type: 'oauth',
    issuer,
    clientId,
    clientSecret,
    checks: ['pkce', 'state'],
    authorization: {
      url: `${issuer}/v1/integrations/oauth/authorize`,
      params: { scope: 'inference usage:read' },
    },
    token: `${issuer}/v1/integrations/oauth/token`,
    userinfo: {
      url: issuer, // Never called: the answer with the tokens names the user.
      request: ({ tokens }: { tokens: { svc_user_id?: string } }) => ({ id: tokens.svc_user_id }),
    },
    profile: ({ id }) => ({ id }),
  };
  // #endregion
  return provider;
};
