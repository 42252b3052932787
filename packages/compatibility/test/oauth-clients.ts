import { authJs } from './oauth/auth-js.ts';
import { betterAuthClient } from './oauth/better-auth.ts';
import { mcp } from './oauth/mcp.ts';
import { oauth4webapi } from './oauth/oauth4webapi.ts';
import { oidcClientTs } from './oauth/oidc-client-ts.ts';
import { passportOauth2 } from './oauth/passport-oauth2.ts';
import { confidentialClients } from './oauth/pushed-request.ts';
import { simpleOauth2 } from './oauth/simple-oauth2.ts';
import { oauthClient } from './oauth/stock-client.ts';

/** Tests the stock OAuth clients, each with its own app. */
export const oauthClients = (): void => {
  oauthClient(oauth4webapi);
  oauthClient(oidcClientTs);
  oauthClient(authJs);
  oauthClient(betterAuthClient);
  oauthClient(passportOauth2);
  oauthClient(simpleOauth2);
  oauthClient(mcp);
  for (const client of confidentialClients) oauthClient(client);
};
