import {
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  refreshAuthorization,
  startAuthorization,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import { type Recipe, type RegisteredApp, SCOPE, type StockClient, type Tokens } from './stock-client.ts';

export const mcp: Recipe = {
  name: versioned('@modelcontextprotocol/sdk'),
  clientType: 'public',
  features: ['Refresh'],
  settings: '`client_id` of an app registered in the console, and a `state` of 16 characters or more',
  create: async ({ clientId, redirectUri }: RegisteredApp): Promise<StockClient> => {
    // Knows the address of the API alone: the refusal of a call names the rest (RFC 9728).
    const api = `${inject('baseUrl')}/integrations`;
    const refusal = await fetch(`${api}/usage`);
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(refusal);
    if (resourceMetadataUrl === undefined) throw new Error('the refusal names no metadata');
    const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } = await discoverOAuthServerInfo(
      api,
      {
        resourceMetadataUrl,
      },
    );
    if (authorizationServerMetadata === undefined || resourceMetadata === undefined) throw new Error('no metadata');
    const shared = {
      metadata: authorizationServerMetadata,
      clientInformation: { client_id: clientId },
      resource: resourceMetadata.resource,
    };
    return {
      connect: async (visit) => {
        const state = crypto.randomUUID();
        const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServerUrl, {
          ...shared,
          redirectUrl: redirectUri,
          scope: SCOPE,
          state,
        });
        const callback = await visit(authorizationUrl);
        const tokens = await exchangeAuthorization(authorizationServerUrl, {
          ...shared,
          authorizationCode: callback.searchParams.get('code') ?? '',
          codeVerifier,
          redirectUri,
        });
        return tokensOf(tokens);
      },
      refresh: async ({ refreshToken }) =>
        tokensOf(await refreshAuthorization(authorizationServerUrl, { ...shared, refreshToken })),
    };
  },
};

const tokensOf = ({ access_token, refresh_token }: OAuthTokens): Tokens => ({
  accessToken: access_token,
  refreshToken: String(refresh_token),
});
