import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { genericOAuth } from 'better-auth/plugins';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import type { Recipe, RegisteredApp, StockClient } from './stock-client.ts';

const SITE = 'https://partner.example';
const API = `${SITE}/api/auth`;

export const betterAuthClient: Recipe = {
  name: versioned('better-auth'),
  clientType: 'confidential',
  redirectUri: `${API}/callback/svc`,
  features: ['Refresh', 'Denial'],
  settings: 'a `getUserInfo` that makes `id` and `email` of `tokens.raw.svc_user_id`',
  example: { title: 'better-auth', source: 'better-auth' },
  create: (app: RegisteredApp): StockClient => {
    const { handler } = partnerAuth(app);
    const cookies = new Map<string, string>();
    const ask = async (path: string, body?: object): Promise<Response> => {
      const headers = {
        origin: SITE,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await handler(new Request(new URL(path, SITE), { headers, ...init }));
      for (const header of response.headers.getSetCookie()) {
        const [name = '', value = ''] = (header.split(';')[0] ?? '').split('=', 2);
        cookies.set(name, value);
      }
      return response;
    };
    const json = async (path: string, body: object) => {
      const response = await ask(`/api/auth/${path}`, body);
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return response.json();
    };
    const findAccount = async (): Promise<string> => {
      const accounts: { id: string; providerId: string }[] = await (await ask('/api/auth/list-accounts')).json();
      const account = accounts.find(({ providerId }) => providerId === 'svc');
      if (account === undefined) throw new Error('no account is connected');
      return account.id;
    };
    return {
      connect: async (visit) => {
        const { url } = await json('sign-in/social', { provider: 'svc', callbackURL: '/welcome' });
        const answer = await ask((await visit(url)).href);
        const location = answer.headers.get('location');
        if (location !== '/welcome') throw new Error(`${answer.status} ${location}`);
        return await json('get-access-token', { accountId: await findAccount() });
      },
      refresh: async () => await json('refresh-token', { accountId: await findAccount() }),
    };
  },
};

const partnerAuth = (app: RegisteredApp) =>
  betterAuth({
    baseURL: SITE,
    secret: 'a secret of the partner for its session cookies',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    telemetry: { enabled: false },
    plugins: [svcPlugin(inject('origin'), app)],
  });

const svcPlugin = (issuer: string, { clientId, clientSecret }: RegisteredApp) => {
  // #region example
  const plugin = genericOAuth({
    config: [
      {
        providerId: 'svc',
        discoveryUrl: `${issuer}/.well-known/openid-configuration`,
        clientId,
        clientSecret,
        scopes: ['inference', 'usage:read'],
        getUserInfo: async ({ raw }) => {
          const id = String(raw?.['svc_user_id']);
          return { id, name: id, email: `${id}@partner.example`, emailVerified: false };
        },
      },
    ],
  });
  // #endregion
  return plugin;
};
