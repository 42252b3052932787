import { ConnectError, type Connector, type ConnectSession, type UserTokens } from '@svc/partner-sdk';
import { type Request, Router } from 'express';

/** What your application brings along. */
interface Deps {
  connector: Connector;
  userTokens: UserTokens;
  /** The server-side session of this browser, as your session middleware keeps it. */
  sessionOf: (request: Request) => { connect?: ConnectSession | undefined };
  /** Notes in your database who your signed-in user is at the service. */
  saveSvcUserId: (request: Request, svcUserId: string) => Promise<void>;
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
      sessionOf(request).connect = undefined; // A flow is finished once.
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
