import { accepts, nullable, object, openObject, optional, text } from '../shape.ts';
import { type ChatChunk, chatChunkShape } from './chat.ts';
import { type Exchange, invalidAnswer } from './send-request.ts';
import { StreamInterruptedError, SvcError, type SvcErrorParts } from './svc-error.ts';

/** Limit of one event in memory. No chat event comes near it. */
const EVENT_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Incremental reader: returns the `data` of each event that the pushed bytes complete. */
interface EventStreamReader {
  /** Throws `RangeError` if an event is too long. */
  push(bytes: Uint8Array): string[];
}

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) from bytes split at any position, even inside a character or
 * line ending. Text after the last empty line is dropped when the stream ends.
 */
export const createEventStreamReader = (): EventStreamReader => {
  // The decoder drops a leading byte order mark, as the standard requires.
  const decoder = new TextDecoder();
  let line = '';
  let data: string[] = [];
  let characters = 0;
  let endedWithReturn = false;

  const endLine = (events: string[]): void => {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'));
      data = [];
      characters = 0;
    } else if (line === 'data' || line.startsWith('data:')) {
      data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    } else {
      // Comments and other fields are dropped.
      characters -= line.length;
    }
    line = '';
  };

  const extendLine = (text: string): void => {
    line += text;
    characters += text.length;
    if (characters > EVENT_CHARACTERS_MAX) throw new RangeError('An event of the stream is too long.');
  };

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      const events: string[] = [];
      // Skips the second half of a CRLF that was split.
      let from = endedWithReturn && text.startsWith('\n') ? 1 : 0;
      if (text !== '') endedWithReturn = text.endsWith('\r');
      for (const { 0: ending, index } of text.matchAll(/\r\n|\r|\n/g)) {
        if (index < from) continue;
        extendLine(text.slice(from, index));
        endLine(events);
        from = index + ending.length;
      }
      extendLine(text.slice(from));
      return events;
    },
  };
};

/** Time limit for the end of the answer after `[DONE]`. Within it the connection can be reused. */
const TAIL_MS_MAX = 1_000;

/** A streamed completion. Iterate over it once. Leaving the loop early stops it; generated tokens are billed. */
export interface ChatStream extends AsyncIterable<ChatChunk> {
  /**
   * Resolves when the service starts to answer; throws the error of the first iteration step. Await it to choose the
   * status of your own response before the first text arrives.
   */
  opened(): Promise<{ requestId: string | undefined }>;
}

const errorEventShape = object({ error: openObject({ code: optional(nullable(text())), message: text() }) });

/** Wraps an exchange that starts on first use. */
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
      if (isTaken) throw new TypeError('A stream can be iterated only once.');
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
      // The time limit covers the silence of the service, not a slow consumer.
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
    throw interrupted(exchange, { message: 'The stream contains an event that is not JSON.', cause });
  }
  if (accepts(errorEventShape, parsed)) {
    const { code, message, ...details } = parsed.error;
    throw interrupted(exchange, { ...(typeof code === 'string' ? { code } : {}), message, details });
  }
  try {
    return chatChunkShape(parsed, 'chunk');
  } catch (cause) {
    throw interrupted(exchange, { message: 'The stream contains an event that is not a chunk.', cause });
  }
};

const interrupted = (
  { requestId, response }: Exchange,
  parts: Partial<SvcErrorParts> & { message: string },
): StreamInterruptedError =>
  new StreamInterruptedError({ code: 'stream_interrupted', requestId, status: response.status, ...parts });

/** Reads the rest of the answer after `[DONE]`, so that the connection can be reused. */
const finishReading = async ({ deadline }: Exchange, body: ReadableStreamDefaultReader<Uint8Array>): Promise<void> => {
  // Unlike a timer, the signal does not keep a Node.js process alive.
  const giveUp = AbortSignal.timeout(TAIL_MS_MAX);
  giveUp.addEventListener('abort', deadline.abort);
  try {
    while (!(await body.read()).done);
  } catch {
    // The answer was already complete.
  } finally {
    giveUp.removeEventListener('abort', deadline.abort);
    deadline.clear();
  }
};
