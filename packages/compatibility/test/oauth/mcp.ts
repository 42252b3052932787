import { auth, extractWWWAuthenticateParams, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import type { Recipe, RegisteredApp, StockClient } from './stock-client.ts';

export const mcp: Recipe = {
  name: versioned('@modelcontextprotocol/sdk'),
  clientType: 'public',
  features: ['Refresh'],
  settings: '`client_id` of an app registered in the console, and a `state`',
  example: { title: 'MCP clients', source: 'mcp' },
  create: async (app: RegisteredApp): Promise<StockClient> => {
    // The client knows the address of the API alone: the refusal of a call names the rest (RFC 9728).
    const serverUrl = `${inject('baseUrl')}/integrations`;
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(await fetch(`${serverUrl}/usage`));
    if (resourceMetadataUrl === undefined) throw new Error('the refusal names no metadata');
    const memory: Memory = {};
    const provider = providerOf(app, memory);
    const currentTokens = () => ({
      accessToken: String(memory.tokens?.access_token),
      refreshToken: String(memory.tokens?.refresh_token),
    });
    return {
      connect: async (visit) => {
        delete memory.tokens;
        await auth(provider, { serverUrl, resourceMetadataUrl });
        const callback = await visit(String(memory.authorizationUrl));
        const authorizationCode = callback.searchParams.get('code') ?? '';
        await auth(provider, { serverUrl, resourceMetadataUrl, authorizationCode });
        return currentTokens();
      },
      refresh: async () => {
        await auth(provider, { serverUrl, resourceMetadataUrl });
        return currentTokens();
      },
    };
  },
};

interface Memory {
  authorizationUrl?: URL;
  codeVerifier?: string;
  tokens?: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
}

const providerOf = ({ clientId, redirectUri }: RegisteredApp, memory: Memory): OAuthClientProvider => {
  // #region example
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { redirect_uris: [redirectUri] },
    clientInformation: () => ({ client_id: clientId }),
    state: () => crypto.randomUUID(),
    redirectToAuthorization: (url) => {
      memory.authorizationUrl = url;
    },
    saveCodeVerifier: (verifier) => {
      memory.codeVerifier = verifier;
    },
    codeVerifier: () => memory.codeVerifier ?? '',
    saveTokens: (tokens) => {
      memory.tokens = tokens;
    },
    tokens: () => memory.tokens,
  };
  // #endregion
  return provider;
};
