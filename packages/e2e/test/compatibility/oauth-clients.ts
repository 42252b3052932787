import { authJs } from './oauth/auth-js.ts';
import { betterAuthClient } from './oauth/better-auth.ts';
import { mcpClients } from './oauth/mcp.ts';
import { oauth4webapi } from './oauth/oauth4webapi.ts';
import { oidcClientTs } from './oauth/oidc-client-ts.ts';
import { passportOauth2 } from './oauth/passport-oauth2.ts';
import { confidentialClients } from './oauth/pushed-request.ts';
import { simpleOauth2 } from './oauth/simple-oauth2.ts';
import { oauthClient, type Recipe } from './oauth/stock-client.ts';
import { chromiumPath } from './support/page.ts';
import { readExample } from './support/read-example.ts';

const recipes: readonly Recipe[] = [
  oauth4webapi,
  ...(chromiumPath === undefined ? [] : [oidcClientTs]),
  authJs,
  betterAuthClient,
  passportOauth2,
  simpleOauth2,
  ...mcpClients,
  ...confidentialClients,
];

/** Tests the stock OAuth clients, each with its own app. */
export const oauthClients = (): void => {
  for (const recipe of recipes) oauthClient(recipe);
};

/** Returns the examples of the recipes in Markdown. They are cut out of the code that is tested. */
export const oauthExamples = (): string =>
  [...new Map(recipes.flatMap(({ example }) => (example === undefined ? [] : [[example.source, example.title]])))]
    .map(([source, title]) => `### ${title}\n\n\`\`\`ts\n${readExample(`oauth/${source}`)}\n\`\`\``)
    .join('\n\n');
