import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import session from 'express-session';
import { Passport } from 'passport';
import { Strategy } from 'passport-oauth2';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import type { Recipe, RegisteredApp, StockClient, Tokens } from './stock-client.ts';

export const passportOauth2: Recipe = {
  name: `${versioned('passport')} with ${versioned('passport-oauth2')}`,
  clientType: 'confidential',
  // On a loopback IP the service takes any port.
  redirectUri: 'http://127.0.0.1/auth/callback',
  features: ['Denial'],
  settings: '`pkce: true`, `state: true`; a `verify` of five parameters finds `svc_user_id` in `params`',
  example: { title: 'Passport', source: 'passport-oauth2' },
  create: async (app: RegisteredApp): Promise<StockClient> => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo; // A server that listens on a port has an AddressInfo.
    const ownOrigin = `http://127.0.0.1:${port}`;
    server.on('request', partnerSite(app, `${ownOrigin}/auth/callback`));
    return {
      connect: async (visit) => {
        const started = await fetch(`${ownOrigin}/auth`, { redirect: 'manual' });
        const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? '';
        const callback = await visit(String(started.headers.get('location')));
        const answer = await fetch(callback, { headers: { cookie } });
        if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
        return await answer.json();
      },
      close: () => {
        server.close();
      },
    };
  },
};

/** A site that answers with the tokens of the user who connected. */
const partnerSite = (app: RegisteredApp, callbackURL: string) => {
  const passport = new Passport();
  passport.use(svcStrategy(inject('origin'), app, callbackURL));
  const site = express();
  site.use(session({ secret: 'keyboard cat', resave: false, saveUninitialized: false }));
  site.get('/auth', passport.authenticate('oauth2'));
  site.get('/auth/callback', passport.authenticate('oauth2', { session: false }), (request, response) => {
    response.json(request.user);
  });
  return site;
};

const svcStrategy = (issuer: string, { clientId, clientSecret }: RegisteredApp, callbackURL: string) => {
  // #region example
  const strategy = new Strategy(
    {
      authorizationURL: `${issuer}/v1/integrations/oauth/authorize`,
      tokenURL: `${issuer}/v1/integrations/oauth/token`,
      clientID: clientId,
      clientSecret,
      callbackURL,
      scope: 'inference usage:read',
      state: true, // Needs express-session.
      pkce: true,
    },
    // biome-ignore lint/complexity/useMaxParams: Passport passes `params` to a function of five parameters alone.
    (accessToken: string, refreshToken: string, params: { svc_user_id: string }, _profile: unknown, done: Done) => {
      done(null, { id: params.svc_user_id, accessToken, refreshToken });
    },
  );
  // #endregion
  return strategy;
};

type Done = (error: Error | null, user: Tokens & { readonly id: string }) => void;
