import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { html } from '@svc/pages';
import type { ChatMessage, ChatStream } from '@svc/partner-sdk';
import express, { type Request, type Response, Router } from 'express';
import type { Partner } from '../connect.ts';
import { describeProblem, type Problem, problemView, renderProblemPage, renderSetupPage } from '../pages.ts';
import { readSessionCookie, type SessionStore } from '../sessions.ts';
import type { Texts } from '../texts/en.ts';
import { textsOf, type View } from '../texts/view.ts';
import { type ConnectedVisitor, renderWelcomePage, sendHome } from './home.ts';

/** The service's limit plus the form's overhead. */
const RECORDING_BYTES_MAX = 25_000_000 + 64 * 1024;

/** A user's upload. */
interface Upload {
  readonly visitor: ConnectedVisitor;
  readonly view: View;
}

/** Transcribes an uploaded file and shows the text. */
const transcribeUpload = async (request: Request, response: Response, { visitor, view }: Upload): Promise<void> => {
  const form = await readForm(request);
  const file = form?.get('file');
  if (form === undefined || !(file instanceof Blob) || file.size === 0) {
    const message = view.texts.transcription.wrongFile;
    response.status(form === undefined ? 413 : 400);
    await sendHome(response, visitor, { view, notice: problemView({ status: 400, message }) });
    return;
  }
  const language = form.get('language');
  try {
    const { text } = await visitor.partner.clientOf(visitor.svcUserId).transcribe({
      file,
      filename: 'name' in file && typeof file.name === 'string' ? file.name : 'audio',
      language: typeof language === 'string' && language !== '' ? language : null,
    });
    const notice = html`<section aria-labelledby="text-title"><h2 id="text-title">${view.texts.transcription.result}</h2><blockquote id="transcription-text">${text}</blockquote></section>`;
    await sendHome(response, visitor, { view, notice });
  } catch (error) {
    const problem = describeProblem(error, view);
    await sendHome(response.status(problem.status), visitor, { view, notice: problemView(problem) });
  }
};

/** Returns the form of a request; undefined if it is too large or not a form. */
const readForm = async (request: Request): Promise<FormData | undefined> => {
  let bytes = 0;
  const limit = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes > RECORDING_BYTES_MAX) done(new RangeError('The form is too large.'));
      else done(null, chunk);
    },
  });
  try {
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const body = Readable.toWeb(request.pipe(limit));
    return await new globalThis.Response(body, { headers }).formData();
  } catch {
    // Drained, since a browser reads the response only after sending everything.
    request.unpipe(limit).resume();
    return undefined;
  }
};

/** Earlier messages sent along; each is billed again. */
const MESSAGES_MAX = 20;

/** A user's message. */
interface ChatTurn {
  readonly visitor: ConnectedVisitor;
  readonly message: string;
  readonly view: View;
}

/** Streams the reply as lines of JSON: `{text}` pieces, then `{done, request_id}` or `{problem}`. */
const streamChat = async (response: Response, { visitor, message, view }: ChatTurn): Promise<void> => {
  const { partner, svcUserId, session } = visitor;
  const messages = [...session.messages, { role: 'user', content: message } as const];
  const leave = new AbortController();
  response.once('close', () => leave.abort());
  response.type('application/x-ndjson');
  try {
    const stream = partner.clientOf(svcUserId).streamChat({ messages }, { signal: leave.signal });
    const { requestId } = await stream.opened();
    const remember = (answer: string): void => rememberTurn(visitor, messages, answer);
    const giveUp = (problem: Problem): void => {
      session.unanswered = { message, problem };
    };
    await pipeline(Readable.from(chatLines(stream, { requestId, remember, giveUp, view })), response);
  } catch (error) {
    // The browser has disconnected.
    if (leave.signal.aborted) return;
    const problem = describeProblem(error, view);
    session.unanswered = { message, problem };
    response.status(problem.status).send(line({ problem }));
  }
};

/** Answers a message with the whole page, for browsers without scripts. */
const answerChat = async (response: Response, { visitor, message, view }: ChatTurn): Promise<void> => {
  const { partner, svcUserId, session } = visitor;
  const messages = [...session.messages, { role: 'user', content: message } as const];
  try {
    const answer = await partner.clientOf(svcUserId).chat({ messages });
    rememberTurn(visitor, messages, answer.choices[0]?.message.content ?? '');
    response.redirect(303, '/');
  } catch (error) {
    const problem = describeProblem(error, view);
    session.unanswered = { message, problem };
    await sendHome(response.status(problem.status), visitor, { view });
  }
};

async function* chatLines(
  stream: ChatStream,
  { requestId, remember, giveUp, view }: StreamContext,
): AsyncGenerator<string, void, undefined> {
  let answer = '';
  try {
    for await (const chunk of stream) {
      const text = chunk.choices[0]?.delta.content ?? '';
      if (text === '') continue;
      answer += text;
      yield line({ text });
    }
    remember(answer);
    yield line({ done: true, request_id: requestId });
  } catch (error) {
    const problem = describeProblem(error, view);
    giveUp(problem);
    yield line({ problem });
  }
}

interface StreamContext {
  readonly requestId: string | undefined;
  readonly remember: (answer: string) => void;
  readonly giveUp: (problem: Problem) => void;
  readonly view: View;
}

const rememberTurn = ({ session }: ConnectedVisitor, messages: readonly ChatMessage[], answer: string): void => {
  session.unanswered = undefined;
  session.messages = [...messages, { role: 'assistant', content: answer } as const].slice(-MESSAGES_MAX);
};

const line = (value: object): string => `${JSON.stringify(value)}\n`;

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
