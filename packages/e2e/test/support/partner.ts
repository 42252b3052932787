import * as client from 'openid-client';
import { expect, inject } from 'vitest';
import { call } from './api.ts';
import type { Person, RegisteredApp } from './people.ts';

/** A partner app's side of a connection. */
export interface ConnectedPartner {
  readonly configuration: client.Configuration;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokens: client.TokenEndpointResponse;
}

/** An authorize request that a partner has started. */
export interface AuthorizeRequest {
  readonly url: URL;
  readonly state: string;
  readonly verifier: string;
}

/** Configures a stock client from the issuer alone. */
export const discoverPartner = (app: RegisteredApp): Promise<client.Configuration> =>
  client.discovery(
    new URL(inject('baseUrl')),
    app.clientId,
    undefined,
    app.clientSecret === undefined ? client.None() : client.ClientSecretPost(app.clientSecret),
    { execute: [client.allowInsecureRequests] },
  );

/** Starts an authorize request as a stock client does. */
export const beginAuthorize = async (
  configuration: client.Configuration,
  app: RegisteredApp,
  more: Record<string, string> = {},
): Promise<AuthorizeRequest> => {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: app.redirectUri,
    scope: 'inference usage:read',
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  });
  return { url, state, verifier };
};

/** Decides through the console API and returns the redirect target. */
export const decide = async (person: Person, request: AuthorizeRequest, approved: boolean): Promise<URL> => {
  const query = Object.fromEntries(request.url.searchParams);
  const decided = await call('POST', '/v1/integrations/oauth/authorize', {
    token: person.token,
    body: {
      client_id: query['client_id'],
      redirect_uri: query['redirect_uri'],
      scope: query['scope'],
      code_challenge: query['code_challenge'],
      code_challenge_method: 'S256',
      state: query['state'],
      approved,
    },
  });
  expect(decided.status, decided.text).toBe(200);
  return new URL(String(decided.body.redirect_to));
};

/** Redeems the code in a callback URL. */
export const redeem = (configuration: client.Configuration, callback: URL, request: AuthorizeRequest) =>
  client.authorizationCodeGrant(configuration, callback, {
    pkceCodeVerifier: request.verifier,
    expectedState: request.state,
  });

/** Runs the whole connect flow of one user and one app. */
export const connect = async (person: Person, app: RegisteredApp): Promise<ConnectedPartner> => {
  const configuration = await discoverPartner(app);
  const request = await beginAuthorize(configuration, app);
  const tokens = await redeem(configuration, await decide(person, request, true), request);
  expect(tokens.refresh_token).toBeTypeOf('string');
  return { configuration, accessToken: tokens.access_token, refreshToken: String(tokens.refresh_token), tokens };
};

/** Sends one message to the delegated chat endpoint. */
export const chat = (accessToken: string, content: string, more: Record<string, unknown> = {}) =>
  call('POST', '/v1/integrations/inference/chat/completions', {
    token: accessToken,
    body: { messages: [{ role: 'user', content }], ...more },
  });

/** Returns the `data:` payloads of an SSE response, in order. */
export const sseData = (text: string): string[] =>
  text
    .split(/\r?\n\r?\n/)
    .filter((block) => block.trim() !== '')
    .map((block) =>
      block
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
        .join('\n'),
    );
