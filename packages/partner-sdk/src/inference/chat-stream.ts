import { z } from 'zod';
import { type ChatChunk, chatChunkSchema } from './chat.ts';
import { createEventStreamReader } from './event-stream.ts';
import { type Exchange, invalidAnswer } from './send-request.ts';
import { StreamInterruptedError, SvcError, type SvcErrorParts } from './svc-error.ts';

/** The connection is let go for the next request when the service ends the answer within this time after `[DONE]`. */
const TAIL_MS_MAX = 1_000;

/** A streamed completion: iterate over it, once. Leaving the loop early stops it; what was generated is billed all the same. */
export interface ChatStream extends AsyncIterable<ChatChunk> {
  /**
   * Resolves when the service has begun to answer; throws what the first step of the iteration would throw. Await it to
   * answer your own caller with a proper status before the first piece of text.
   */
  opened(): Promise<{ requestId: string | undefined }>;
}

const errorEventSchema = z.object({ error: z.looseObject({ code: z.string().nullish(), message: z.string() }) });

/** Wraps an exchange that is begun at the first use. */
export const createChatStream = (begin: () => Promise<Exchange>): ChatStream => {
  let begun: Promise<Exchange> | undefined;
  let isTaken = false;
  const exchange = (): Promise<Exchange> => {
    begun ??= begin();
    return begun;
  };
  return {
    opened: async () => ({ requestId: (await exchange()).requestId }),
    [Symbol.asyncIterator]: () => {
      if (isTaken) throw new TypeError('A stream can be iterated over once.');
      isTaken = true;
      return readChunks(exchange);
    },
  };
};

async function* readChunks(begin: () => Promise<Exchange>): AsyncGenerator<ChatChunk, void, undefined> {
  const exchange = await begin();
  const { response, deadline } = exchange;
  const body = response.body?.getReader();
  let isDone = false;
  try {
    if (body === undefined || !isEventStream(response)) throw invalidAnswer(exchange, undefined);
    const events = createEventStreamReader();
    for (;;) {
      const { done, value } = await body.read();
      if (done) throw interrupted(exchange, { message: 'The stream ended before [DONE].' });
      // The limit is on the service's silence; who takes the chunks may take its time.
      deadline.pause();
      for (const data of events.push(value)) {
        isDone = data === '[DONE]';
        if (isDone) return;
        deadline.throwIfCallerAborted();
        yield readChunk(exchange, data);
      }
      deadline.renew();
    }
  } catch (error) {
    deadline.throwIfCallerAborted();
    throw error instanceof SvcError
      ? error
      : interrupted(exchange, { message: 'The stream broke before [DONE].', cause: error });
  } finally {
    if (isDone && body !== undefined) void finishReading(exchange, body);
    else {
      deadline.clear();
      deadline.abort();
    }
  }
}

const isEventStream = (response: Response): boolean =>
  /^text\/event-stream\s*(;|$)/i.test(response.headers.get('content-type') ?? '');

const readChunk = (exchange: Exchange, data: string): ChatChunk => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(data);
  } catch (cause) {
    throw interrupted(exchange, { message: 'The stream holds an event that is not JSON.', cause });
  }
  const failure = errorEventSchema.safeParse(parsed);
  if (failure.success) {
    const { code, message, ...details } = failure.data.error;
    throw interrupted(exchange, { ...(typeof code === 'string' ? { code } : {}), message, details });
  }
  const chunk = chatChunkSchema.safeParse(parsed);
  if (chunk.success) return chunk.data;
  throw interrupted(exchange, { message: 'The stream holds an event that is no chunk.', cause: chunk.error });
};

const interrupted = (
  { requestId, response }: Exchange,
  parts: Partial<SvcErrorParts> & { message: string },
): StreamInterruptedError =>
  new StreamInterruptedError({ code: 'stream_interrupted', requestId, status: response.status, ...parts });

/** After `[DONE]` only the end of the answer is to come; reading it keeps the connection usable. */
const finishReading = async ({ deadline }: Exchange, body: ReadableStreamDefaultReader<Uint8Array>): Promise<void> => {
  const giveUp = setTimeout(deadline.abort, TAIL_MS_MAX);
  giveUp.unref();
  try {
    while (!(await body.read()).done);
  } catch {
    // The answer was complete before this.
  } finally {
    clearTimeout(giveUp);
    deadline.clear();
  }
};
