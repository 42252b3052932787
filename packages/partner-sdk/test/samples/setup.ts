import { createConnector, createMemoryTokenStore, createUserTokens } from '@svc/partner-sdk';

const baseUrl = 'https://svc.example';
export const connector = createConnector({
  issuer: baseUrl,
  clientId: 'app_…',
  clientSecret: process.env['SVC_CLIENT_SECRET'], // Leave it out for a public app.
  redirectUri: 'https://partner.example/callback', // As registered, letter by letter.
});
export const userTokens = createUserTokens({ connector, store: createMemoryTokenStore() });
