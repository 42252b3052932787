import { ConnectError, type Connector, type ConnectSession, type UserTokens } from '@svc/partner-sdk';
import { type Request, Router } from 'express';

/** Dependencies from your application. */
interface Deps {
  readonly connector: Connector;
  readonly userTokens: UserTokens;
  /** Server-side session of this browser, as your session middleware keeps it. */
  readonly sessionOf: (request: Request) => { connect?: ConnectSession | undefined };
  /** Stores the service's user id for your signed-in user. */
  readonly saveSvcUserId: (request: Request, svcUserId: string) => Promise<void>;
}

export const connectRoutes = ({ connector, userTokens, sessionOf, saveSvcUserId }: Deps): Router =>
  Router()
    .get('/connect', async (request, response) => {
      const { url, session } = await connector.begin();
      sessionOf(request).connect = session;
      response.redirect(url);
    })
    .get('/callback', async (request, response) => {
      const { connect } = sessionOf(request);
      sessionOf(request).connect = undefined; // A flow can be finished only once.
      try {
        const { svcUserId, tokens } = await connector.finish(request.originalUrl, connect);
        await userTokens.save(tokens);
        await saveSvcUserId(request, svcUserId);
        response.redirect('/');
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
        response.status(error.reason === 'unavailable' ? 503 : 400).send(error.message);
      }
    });
