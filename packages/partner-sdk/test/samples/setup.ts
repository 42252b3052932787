import { createConnector, createMemoryTokenStore, createUserTokens } from '@svc/partner-sdk';

const baseUrl = 'https://svc.example';
export const connector = createConnector({
  issuer: baseUrl,
  clientId: 'app_…',
  clientSecret: process.env['SVC_CLIENT_SECRET'], // Omit it for a public app.
  redirectUri: 'https://partner.example/callback', // As registered, character for character.
});
export const userTokens = createUserTokens({ connector, store: createMemoryTokenStore() });
