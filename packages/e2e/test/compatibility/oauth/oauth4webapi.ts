import * as oauth from 'oauth4webapi';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import { type Recipe, type RegisteredApp, SCOPE, type StockClient, type Tokens } from './stock-client.ts';

const insecure = { [oauth.allowInsecureRequests]: true };

export const oauth4webapi: Recipe = {
  name: versioned('oauth4webapi'),
  clientType: 'public',
  features: ['Refresh', 'Revoke', 'Denial'],
  settings: 'none',
  create: async ({ clientId, redirectUri }: RegisteredApp): Promise<StockClient> => {
    const issuer = new URL(inject('origin'));
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const client: oauth.Client = { client_id: clientId };
    const auth = oauth.None();
    return {
      connect: async (visit) => {
        const verifier = oauth.generateRandomCodeVerifier();
        const state = oauth.generateRandomState();
        const url = new URL(String(server.authorization_endpoint));
        url.search = new URLSearchParams({
          client_id: clientId,
          redirect_uri: redirectUri,
          response_type: 'code',
          scope: SCOPE,
          state,
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        }).toString();
        const callback = oauth.validateAuthResponse(server, client, await visit(url), state);
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          auth,
          callback,
          redirectUri,
          verifier,
          insecure,
        );
        return tokensOf(await oauth.processAuthorizationCodeResponse(server, client, response));
      },
      refresh: async ({ refreshToken }) => {
        const response = await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, insecure);
        return tokensOf(await oauth.processRefreshTokenResponse(server, client, response));
      },
      revoke: async ({ refreshToken }) => {
        const response = await oauth.revocationRequest(server, client, auth, refreshToken, insecure);
        await oauth.processRevocationResponse(response);
      },
    };
  },
};

const tokensOf = ({ access_token, refresh_token }: oauth.TokenEndpointResponse): Tokens => ({
  accessToken: access_token,
  refreshToken: String(refresh_token),
});
