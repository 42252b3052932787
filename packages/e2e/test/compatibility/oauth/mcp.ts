import * as v2 from '@modelcontextprotocol/client';
import * as v1 from '@modelcontextprotocol/sdk/client/auth.js';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import type { Recipe, RegisteredApp, StockClient } from './stock-client.ts';

/** The part of the MCP SDK that both major versions share. */
interface McpSdk {
  readonly auth: (provider: OAuthClientProvider, options: AuthOptions) => Promise<unknown>;
  readonly extractWWWAuthenticateParams: (response: Response) => { readonly resourceMetadataUrl?: URL };
}

type OAuthClientProvider = v1.OAuthClientProvider & v2.OAuthClientProvider;
type AuthOptions = Parameters<typeof v1.auth>[1] & { readonly iss?: string };

const mcpClient = (alias: string, settings: string, { auth, extractWWWAuthenticateParams }: McpSdk): Recipe => ({
  name: versioned(alias),
  clientType: 'public',
  features: ['Refresh'],
  settings,
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
        const { code: authorizationCode = '', iss = '' } = Object.fromEntries(callback.searchParams);
        await auth(provider, { serverUrl, resourceMetadataUrl, authorizationCode, iss });
        return currentTokens();
      },
      refresh: async () => {
        await auth(provider, { serverUrl, resourceMetadataUrl });
        return currentTokens();
      },
    };
  },
});

const SETTINGS = '`client_id` of an app registered in the console, and a `state`';

export const mcpClients: readonly Recipe[] = [
  mcpClient('@modelcontextprotocol/client', `${SETTINGS}; \`auth\` takes \`iss\` of the callback beside the code`, v2),
  mcpClient('@modelcontextprotocol/sdk', SETTINGS, v1),
];

interface Memory {
  authorizationUrl?: URL;
  codeVerifier?: string;
  discovery?: v1.OAuthDiscoveryState;
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
    saveDiscoveryState: (discovery) => {
      memory.discovery = discovery;
    },
    discoveryState: () => memory.discovery,
  };
  // #endregion
  return provider;
};
