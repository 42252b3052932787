import { createHash, randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type Recipe, type RegisteredApp, SCOPE, type StockClient, type Tokens } from './stock-client.ts';

/** Authenticates the client (RFC 6749 section 2.3.1). */
type Authenticate = (app: RegisteredApp, form: URLSearchParams, headers: Headers) => void;

const basic: Authenticate = ({ clientId, clientSecret }, _form, headers) => {
  const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':');
  headers.set('authorization', `Basic ${btoa(credentials)}`);
};

const post: Authenticate = ({ clientId, clientSecret }, form) => {
  form.set('client_id', clientId);
  form.set('client_secret', clientSecret);
};

/** A confidential client as Spring Security or a shell script is one: it pushes its request (RFC 9126). */
const confidentialClient = (method: string, authenticate: Authenticate): Recipe => ({
  name: `confidential client with PAR and ${method}`,
  clientType: 'confidential',
  features: ['Refresh', 'Revoke'],
  settings: 'none',
  create: async (app: RegisteredApp): Promise<StockClient> => {
    const discovery = await fetch(`${inject('origin')}/.well-known/openid-configuration`);
    const server: Record<string, string> = await discovery.json();
    const send = async (endpoint: string, parameters: Record<string, string>): Promise<Record<string, string>> => {
      const headers = new Headers();
      const body = new URLSearchParams(parameters);
      authenticate(app, body, headers);
      const response = await fetch(String(server[endpoint]), { method: 'POST', body, headers });
      const text = await response.text();
      if (!response.ok) throw new Error(`${endpoint}: ${response.status} ${text}`);
      return text === '' ? {} : JSON.parse(text);
    };
    return {
      connect: async (visit) => {
        const verifier = randomBytes(32).toString('base64url');
        const state = randomBytes(16).toString('base64url');
        const { request_uri = '' } = await send('pushed_authorization_request_endpoint', {
          client_id: app.clientId,
          response_type: 'code',
          redirect_uri: app.redirectUri,
          scope: SCOPE,
          state,
          code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
        });
        const query = new URLSearchParams({ client_id: app.clientId, request_uri });
        const callback = (await visit(`${server['authorization_endpoint']}?${query}`)).searchParams;
        const { code, error = '', iss, ...rest } = Object.fromEntries(callback);
        if (code === undefined) throw new Error(error);
        if (iss !== server['issuer'] || rest['state'] !== state) throw new Error('an answer of another flow');
        const grant = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri };
        return tokensOf(await send('token_endpoint', { ...grant, code_verifier: verifier }));
      },
      refresh: async ({ refreshToken }) =>
        tokensOf(await send('token_endpoint', { grant_type: 'refresh_token', refresh_token: refreshToken })),
      revoke: async ({ refreshToken }) => {
        await send('revocation_endpoint', { token: refreshToken, token_type_hint: 'refresh_token' });
      },
    };
  },
});

const tokensOf = ({ access_token = '', refresh_token = '' }: Record<string, string>): Tokens => ({
  accessToken: access_token,
  refreshToken: refresh_token,
});

export const confidentialClients = [
  confidentialClient('client_secret_basic', basic),
  confidentialClient('client_secret_post', post),
];
