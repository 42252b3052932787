import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { type Visit, visitAnd } from '../support/browser.ts';
import { call } from '../support/product.ts';
import { oauthTable } from '../support/results.ts';

/** A registered app. The secret is empty if the app is public. */
export interface RegisteredApp {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A stock client, configured with the address and the credentials of one app. */
export interface StockClient {
  /** Runs a connect flow. Throws the error that the client reports. */
  readonly connect: (visit: Visit) => Promise<Tokens>;
  readonly refresh?: (tokens: Tokens) => Promise<Tokens>;
  readonly revoke?: (tokens: Tokens) => Promise<void>;
  readonly close?: () => void | Promise<void>;
}

export interface Recipe {
  readonly name: string;
  readonly clientType: 'public' | 'confidential';
  /** Defaults to an address that nothing answers, as the client is handed the callback. */
  readonly redirectUri?: string;
  /** Features that the client has code for, beside connecting. */
  readonly features: readonly ('Refresh' | 'Revoke' | 'Denial')[];
  /** Settings beyond address and credentials. */
  readonly settings: string;
  /** Title of the published example, if the module `oauth/<source>.ts` marks one. */
  readonly example?: { readonly title: string; readonly source: string };
  readonly create: (app: RegisteredApp) => StockClient | Promise<StockClient>;
}

export const SCOPE = 'inference usage:read';

const { supports, needs } = oauthTable;

/** Tests the features of one stock client, with a new app. */
export const oauthClient = (recipe: Recipe): void => {
  describe(recipe.name, () => {
    const { name, features } = recipe;
    let app: RegisteredApp;
    let client: StockClient;
    let tokens: Tokens;
    needs(name, recipe.settings);

    beforeAll(async () => {
      app = await registerApp(recipe);
      client = await recipe.create(app);
    });
    afterAll(() => client.close?.());

    supports(name, 'Connect', async () => {
      tokens = await client.connect(visitAnd('approve'));
      await chat(tokens.accessToken);
    });
    if (features.includes('Refresh')) {
      supports(name, 'Refresh', async () => {
        const next = await client.refresh?.(tokens);
        if (next === undefined) throw new Error('the client does not refresh');
        expect(next.accessToken).not.toBe(tokens.accessToken);
        await chat(next.accessToken);
        tokens = next;
      });
    }
    if (features.includes('Revoke')) {
      supports(name, 'Revoke', async () => {
        await client.revoke?.(tokens);
        expect(await refreshByHand(app, tokens)).toMatchObject({ error: 'invalid_grant' });
      });
    }
    if (features.includes('Denial')) {
      supports(name, 'Denial', async () => {
        const answers: URL[] = [];
        const visit: Visit = async (address) => {
          const answer = await visitAnd('deny')(address);
          answers.push(answer);
          return answer;
        };
        await expect(client.connect(visit)).rejects.toThrow();
        expect(answers.map(({ searchParams }) => searchParams.get('error'))).toEqual(['access_denied']);
      });
    }
  });
};

/** Registers an app of the business. */
export const registerApp = async ({
  name,
  clientType,
  redirectUri,
}: Pick<Recipe, 'name' | 'clientType' | 'redirectUri'>): Promise<RegisteredApp> => {
  const uri = redirectUri ?? 'https://partner.example/callback';
  const app = await call('POST', `${inject('origin')}/v1/integrations/apps`, {
    token: inject('business').token,
    body: { name: name.slice(0, 80), client_type: clientType, redirect_uris: [uri] },
  });
  return { clientId: String(app['client_id']), clientSecret: String(app['client_secret'] ?? ''), redirectUri: uri };
};

const chat = async (token: string): Promise<void> => {
  const messages = [{ role: 'user', content: 'Where does the sun rise?' }];
  await call('POST', `${inject('baseUrl')}/integrations/inference/chat/completions`, { token, body: { messages } });
};

const refreshByHand = async ({ clientId, clientSecret }: RegisteredApp, { refreshToken }: Tokens): Promise<unknown> => {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId });
  if (clientSecret !== '') body.set('client_secret', clientSecret);
  const response = await fetch(`${inject('baseUrl')}/integrations/oauth/token`, { method: 'POST', body });
  return response.json();
};
