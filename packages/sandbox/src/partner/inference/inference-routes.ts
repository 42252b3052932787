import express, { type Request, type Response, Router } from 'express';
import type { Partner } from '../connect/index.ts';
import { renderProblemPage, renderSetupPage } from '../pages/index.ts';
import { readSessionCookie, type SessionStore } from '../sessions/index.ts';
import { type Texts, textsOf, type View } from '../texts/index.ts';
import { answerChat, streamChat } from './chat.ts';
import { type ConnectedVisitor, sendHome } from './home.ts';
import { renderWelcomePage } from './home-page.ts';
import { transcribeUpload } from './transcribe.ts';

const FORM_BYTES_MAX = '64kb';
const MESSAGE_CHARACTERS_MAX = 4_000;

export interface InferenceRoutesDeps {
  readonly sessions: SessionStore;
  readonly partner: () => Partner | undefined;
  /** Reason why the app is not registered yet. */
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
    // A webhook may have reported the end of the connection.
    if (await current.isConnected(session.svcUserId))
      return { partner: current, session, svcUserId: session.svcUserId };
    session.svcUserId = undefined;
    return undefined;
  };

  const viewOf = (request: Request): View => ({ texts: textsOf(request), serviceUrl });

  return Router()
    .get('/', async (request, response) => {
      if (partner() === undefined) return response.status(503).send(renderSetupPage(setupProblem(), textsOf(request)));
      const visitor = await findVisitor(request);
      if (visitor === undefined) response.send(renderWelcomePage(viewOf(request)));
      else await sendHome(response, visitor, { view: viewOf(request) });
    })
    .post('/chat', express.urlencoded({ extended: false, limit: FORM_BYTES_MAX }), async (request, response) => {
      const visitor = await findVisitor(request);
      const wantsStream = request.headers.accept === 'application/x-ndjson';
      if (visitor === undefined) return sendNotConnected(response, textsOf(request), wantsStream);
      const message = readMessage(request.body);
      if (message === undefined) return response.redirect(303, '/');
      const turn = { visitor, message, view: viewOf(request) };
      await (wantsStream ? streamChat(response, turn) : answerChat(response, turn));
    })
    .post('/transcribe', async (request, response) => {
      const visitor = await findVisitor(request);
      if (visitor === undefined) sendNotConnected(response.set('connection', 'close'), textsOf(request));
      else await transcribeUpload(request, response, { visitor, view: viewOf(request) });
    });
};

const sendNotConnected = (response: Response, texts: Texts, wantsStream = false): void => {
  const { notConnected: message, connect: label } = texts.problem;
  const problem = { status: 401, message, action: { label, href: '/connect' } };
  response.status(401);
  if (wantsStream) response.type('application/x-ndjson').send(`${JSON.stringify({ problem })}\n`);
  else response.send(renderProblemPage(problem, texts));
};

const readMessage = (body: unknown): string | undefined => {
  if (typeof body !== 'object' || body === null || !('message' in body)) return undefined;
  const { message } = body;
  if (typeof message !== 'string' || message.trim() === '' || message.length > MESSAGE_CHARACTERS_MAX) return undefined;
  return message;
};
