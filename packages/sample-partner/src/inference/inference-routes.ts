import express, { type Request, type Response, Router } from 'express';
import type { Partner } from '../connect/index.ts';
import { renderProblemPage } from '../pages/index.ts';
import { readSessionCookie, type SessionStore } from '../sessions/index.ts';
import { answerChat, streamChat } from './chat.ts';
import { type ConnectedVisitor, sendHome } from './home.ts';
import { renderSetupPage, renderWelcomePage } from './home-page.ts';
import { transcribeUpload } from './transcribe.ts';

const FORM_BYTES_MAX = '64kb';
const MESSAGE_CHARACTERS_MAX = 4_000;

/** What the pages of a user need. */
export interface InferenceRoutesDeps {
  readonly sessions: SessionStore;
  readonly partner: () => Partner | undefined;
  /** Why there is no partner yet. */
  readonly setupProblem: () => string | undefined;
  readonly serviceUrl: string;
}

/** The start page, chat and transcription. */
export const inferenceRoutes = (deps: InferenceRoutesDeps): Router => {
  const { sessions, partner, setupProblem, serviceUrl } = deps;

  const findVisitor = async (request: Request): Promise<ConnectedVisitor | undefined> => {
    const session = sessions.find(readSessionCookie(request));
    const current = partner();
    if (session?.svcUserId === undefined || current === undefined) return undefined;
    // Its connection may have been ended at the service, as a webhook has told.
    if (await current.isConnected(session.svcUserId))
      return { partner: current, session, svcUserId: session.svcUserId };
    session.svcUserId = undefined;
    return undefined;
  };

  return Router()
    .get('/', async (request, response) => {
      if (partner() === undefined) return response.status(503).send(renderSetupPage(setupProblem()));
      const visitor = await findVisitor(request);
      if (visitor === undefined) response.send(renderWelcomePage(serviceUrl));
      else await sendHome(response, visitor, { serviceUrl });
    })
    .post('/chat', express.urlencoded({ extended: false, limit: FORM_BYTES_MAX }), async (request, response) => {
      const visitor = await findVisitor(request);
      const wantsStream = request.headers.accept === 'application/x-ndjson';
      if (visitor === undefined) return sendNotConnected(response, wantsStream);
      const message = readMessage(request.body);
      if (message === undefined) return response.redirect(303, '/');
      const turn = { visitor, message, serviceUrl };
      await (wantsStream ? streamChat(response, turn) : answerChat(response, turn));
    })
    .post('/transcribe', async (request, response) => {
      const visitor = await findVisitor(request);
      if (visitor === undefined) sendNotConnected(response.set('connection', 'close'), false);
      else await transcribeUpload(request, response, { visitor, serviceUrl });
    });
};

const NOT_CONNECTED = {
  status: 401,
  message: 'You are not connected.',
  action: { label: 'Connect', href: '/connect' },
} as const;

const sendNotConnected = (response: Response, wantsStream: boolean): void => {
  response.status(401);
  if (wantsStream) response.type('application/x-ndjson').send(`${JSON.stringify({ problem: NOT_CONNECTED })}\n`);
  else response.send(renderProblemPage(NOT_CONNECTED));
};

const readMessage = (body: unknown): string | undefined => {
  if (typeof body !== 'object' || body === null || !('message' in body)) return undefined;
  const { message } = body;
  if (typeof message !== 'string' || message.trim() === '' || message.length > MESSAGE_CHARACTERS_MAX) return undefined;
  return message;
};
