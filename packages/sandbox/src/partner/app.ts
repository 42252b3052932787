import { fileURLToPath } from 'node:url';
import { readFonts } from '@svc/pages/read-fonts';
import express, { type ErrorRequestHandler } from 'express';
import { connectRoutes, type Partner } from './connect.ts';
import type { Inbox } from './inbox/inbox.ts';
import { inboxRoutes } from './inbox/inbox-routes.ts';
import { receiveWebhooks } from './inbox/receive-webhooks.ts';
import { inferenceRoutes } from './inference/inference-routes.ts';
import { describeError, type Log } from './log.ts';
import { ownOriginOnly, pageHeaders, renderProblemPage } from './pages.ts';
import { readSessionCookie, type SessionStore } from './sessions.ts';
import { singlePageRoutes } from './single-page-routes.ts';
import { setLanguage, textsOf } from './texts/view.ts';

const ASSETS = fileURLToPath(new URL('../../public/', import.meta.url));
const TOKENS = fileURLToPath(import.meta.resolve('@svc/pages/tokens.css'));
/** Fonts have their version in their name. */
const FONT_CACHE = 'public, max-age=31536000, immutable';

export interface AppDeps {
  readonly baseUrl: string;
  /** Base URL of the pages. */
  readonly origin: string;
  readonly webhookUrl: string;
  readonly inbox: Inbox;
  readonly sessions: SessionStore;
  /** Undefined until the app is registered; `setupProblem` gives the reason. */
  readonly partner: () => Partner | undefined;
  readonly setupProblem: () => string | undefined;
  readonly log: Log;
}

/** Creates the application of the pages. */
export const createPages = (deps: AppDeps): express.Express => {
  const { origin, inbox, sessions, partner, setupProblem, webhookUrl, log } = deps;
  const serviceUrl = `${deps.baseUrl}/`;
  const app = express();
  app.disable('x-powered-by');
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok', registered: partner() !== undefined });
  });
  app.use(ownOriginOnly(origin), pageHeaders);
  app.use(sharedAssets());
  app.use('/assets', express.static(ASSETS, { index: false, cacheControl: false }));
  app.post('/language', express.urlencoded({ extended: false, limit: '1kb' }), (request, response) => {
    setLanguage(response, request.body?.language === 'it' ? 'it' : 'en');
    response.redirect(303, '/');
  });
  app.use(connectRoutes({ sessions, partner, serviceUrl }));
  app.use(singlePageRoutes({ partner, setupProblem, serviceUrl, redirectUri: `${origin}/browser` }));
  app.use(inferenceRoutes({ sessions, partner, setupProblem, serviceUrl }));
  app.use(
    inboxRoutes({
      inbox,
      webhookUrl,
      svcUserIdOf: (request) => sessions.find(readSessionCookie(request))?.svcUserId,
      clientId: () => partner()?.clientId,
    }),
  );
  app.use((request, response) => {
    const texts = textsOf(request);
    response.status(404).send(renderProblemPage({ status: 404, message: texts.problem.noPage }, texts));
  });
  const answerError: ErrorRequestHandler = (error, request, response, next) => {
    const status = typeof error?.status === 'number' && error.status >= 400 && error.status < 500 ? error.status : 500;
    if (status === 500) log('error', describeError(error), { path: request.path });
    const texts = textsOf(request);
    if (response.headersSent) next(error);
    else response.status(status).send(renderProblemPage({ status, message: texts.problem.notAnswered }, texts));
  };
  return app.use(answerError);
};

/** Serves the tokens and the fonts of the product's pages, so that both look related. */
const sharedAssets = (): express.Router => {
  const router = express.Router();
  router.get('/assets/tokens.css', (_request, response) => response.sendFile(TOKENS, { cacheControl: false }));
  for (const [path, bytes] of readFonts()) {
    router.get(path, (_request, response) => {
      response
        .set('cache-control', FONT_CACHE)
        .type(path.slice(path.lastIndexOf('.')))
        .send(bytes);
    });
  }
  return router;
};

/** Creates the webhook receiver. */
export const createReceiver = ({ inbox, partner, log }: AppDeps): express.Express =>
  receiveWebhooks({
    inbox,
    receiver: () => partner()?.receiver,
    onError: (error) => log('error', `a webhook could not be accepted: ${describeError(error)}`),
  });
