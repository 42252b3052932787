import { freePort } from '@svc/testing';
import type { UserManagerSettings } from 'oidc-client-ts';
import { inject } from 'vitest';
import { openPage } from '../support/page.ts';
import { versioned } from '../support/results.ts';
import type { Recipe, RegisteredApp, StockClient, Tokens } from './stock-client.ts';

const port = await freePort();
const home = `http://127.0.0.1:${port}/`;

/** Runs in Chromium, on a page of another origin: the browser's own storage, cryptography and CORS. */
export const oidcClientTs: Recipe = {
  name: versioned('oidc-client-ts'),
  clientType: 'public',
  redirectUri: `${home}callback`,
  features: ['Refresh', 'Revoke', 'Denial'],
  settings: '`scope`, as its default is `openid` alone',
  example: { title: 'oidc-client-ts', source: 'oidc-client-ts' },
  create: async ({ clientId, redirectUri }: RegisteredApp): Promise<StockClient> => {
    const issuer = inject('origin');
    // #region example
    const settings: UserManagerSettings = {
      authority: issuer,
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid inference usage:read', // `openid` is ignored: there are no ID tokens.
    };
    // #endregion
    const page = await openPage({ port, library: 'oidc-client-ts.min.js', script: pageScript(settings) });
    return {
      connect: async (visit) => {
        await page.goto(home);
        const request = page.waitForRequest(`${issuer}/v1/integrations/oauth/authorize`, 'app.begin()');
        await page.goto((await visit(await request)).href);
        return await page.run<Tokens>('app.finish()');
      },
      refresh: () => page.run<Tokens>('app.refresh()'),
      revoke: () => page.run<void>('app.revoke()'),
      close: () => page.close(),
    };
  },
};

/** The app: it connects, and asks for an answer and for the usage from the page. */
const pageScript = (settings: UserManagerSettings): string => `
const manager = new oidc.UserManager(${JSON.stringify(settings)});
const tokensOf = async () => {
  const { access_token: accessToken, refresh_token: refreshToken } = await manager.getUser();
  return { accessToken, refreshToken };
};
const fetchOk = async (path, token, init) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  const response = await fetch(${JSON.stringify(settings.authority)} + '/v1/integrations/' + path, { headers, ...init });
  if (!response.ok) throw new Error(path + ': ' + response.status);
  return await response.text();
};
globalThis.app = {
  begin: () => void manager.signinRedirect(),
  finish: async () => {
    await manager.signinCallback();
    const tokens = await tokensOf();
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], stream: true });
    const text = await fetchOk('inference/chat/completions', tokens.accessToken, { method: 'POST', body });
    if (!text.includes('[DONE]')) throw new Error('the stream was cut off');
    await fetchOk('usage', tokens.accessToken);
    return tokens;
  },
  refresh: async () => {
    await manager.signinSilent();
    return await tokensOf();
  },
  revoke: () => manager.revokeTokens(['refresh_token']),
};
`;
