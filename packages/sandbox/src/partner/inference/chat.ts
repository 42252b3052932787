import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ChatMessage, ChatStream } from '@svc/partner-sdk';
import type { Response } from 'express';
import { describeProblem, type Problem } from '../pages/index.ts';
import type { View } from '../texts/index.ts';
import { type ConnectedVisitor, sendHome } from './home.ts';

/** Earlier messages sent along; each is billed again. */
const MESSAGES_MAX = 20;

/** A user's message. */
export interface ChatTurn {
  readonly visitor: ConnectedVisitor;
  readonly message: string;
  readonly view: View;
}

/** Streams the reply as lines of JSON: `{text}` pieces, then `{done, request_id}` or `{problem}`. */
export const streamChat = async (response: Response, { visitor, message, view }: ChatTurn): Promise<void> => {
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
export const answerChat = async (response: Response, { visitor, message, view }: ChatTurn): Promise<void> => {
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
