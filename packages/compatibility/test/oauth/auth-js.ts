import { Auth, type AuthConfig, skipCSRFCheck } from '@auth/core';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import { type Recipe, type RegisteredApp, SCOPE, type StockClient, type Tokens } from './stock-client.ts';

const SITE = 'https://partner.example';

export const authJs: Recipe = {
  name: versioned('@auth/core'),
  clientType: 'confidential',
  redirectUri: `${SITE}/auth/callback/svc`,
  features: [],
  settings:
    "`type: 'oauth'`, `issuer`, `checks: ['pkce', 'state']`, and a `userinfo.request` that returns " +
    '`{ id: tokens.svc_user_id }`',
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

const partnerConfig = ({ clientId, clientSecret }: RegisteredApp, onTokens: (tokens: Tokens) => void): AuthConfig => {
  const oauth = `${inject('baseUrl')}/integrations/oauth`;
  return {
    basePath: '/auth',
    trustHost: true,
    secret: 'a secret of the partner for its session cookies',
    skipCSRFCheck,
    logger: { error: () => {} },
    providers: [
      {
        id: 'svc',
        name: 'svc',
        type: 'oauth',
        issuer: inject('origin'),
        clientId,
        clientSecret,
        checks: ['pkce', 'state'],
        authorization: { url: `${oauth}/authorize`, params: { scope: SCOPE } },
        token: `${oauth}/token`,
        userinfo: {
          url: inject('origin'),
          request: ({ tokens }: { tokens: { svc_user_id?: string } }) => ({ id: tokens.svc_user_id }),
        },
        profile: (profile) => ({ id: profile.id }),
      },
    ],
    callbacks: {
      jwt: ({ token, account }) => {
        if (account?.access_token !== undefined && account.refresh_token !== undefined) {
          onTokens({ accessToken: account.access_token, refreshToken: account.refresh_token });
        }
        return token;
      },
    },
  };
};
