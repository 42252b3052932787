import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Listening, listen } from './listen.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Answer = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

/** Stand-in for the service over a real socket, with answers prepared by the test byte for byte. */
export interface StandInService extends Listening {
  readonly requests: SeenRequest[];
  /** Queues the next answers. */
  answerNext(...answers: Answer[]): void;
  last(): SeenRequest;
}

/** Request id of every answer. */
export const REQUEST_ID = 'req_01jd5m8q2v3w4x5y6z7a8b9c0d';

export const startStandInService = async (): Promise<StandInService> => {
  const requests: SeenRequest[] = [];
  const answers: Answer[] = [];
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = incoming;
    const request = { method, path: url, headers, body: await buffer(incoming) };
    requests.push(request);
    response.setHeader('x-request-id', REQUEST_ID);
    const answer = answers.shift() ?? json(500, { detail: { code: 'internal_error', message: 'no answer left' } });
    await answer(response, request);
  };
  const listening = await listen(
    (incoming, response) => void serve(incoming, response).catch(() => response.destroy()),
  );
  return {
    ...listening,
    requests,
    answerNext: (...next) => void answers.push(...next),
    last: () => {
      const request = requests.at(-1);
      if (request === undefined) throw new Error('nothing was requested');
      return request;
    },
  };
};

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** An error in the service's format. */
export const failure = (
  status: number,
  code: string,
  more: object = {},
  headers: Record<string, string> = {},
): Answer => json(status, { detail: { code, message: `This is ${code}.`, ...more } }, headers);

/** Reads the request and closes the connection. */
export const hangUp: Answer = (response) => void response.socket?.destroy();

/** Never answers. */
export const silence: Answer = () => undefined;

/** Sends the head of a stream. */
export const startStream = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
};

/** A stream of these events, each written in one piece. */
export const stream =
  (...pieces: (string | Uint8Array)[]): Answer =>
  async (response) => {
    startStream(response);
    for (const piece of pieces) {
      response.write(piece);
      // Yields to the event loop so that each piece leaves separately.
      await new Promise(setImmediate);
    }
    response.end();
  };

export const chunk = (content: string): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_790_847_000,
  model: 'svc',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});

export const event = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

export const completion = (content: string): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_847_000,
  model: 'svc',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
});
