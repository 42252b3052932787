import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type ChatChunk,
  type ChatStream,
  createSvcClient,
  StreamInterruptedError,
  type SvcClient,
  SvcError,
} from '../src/index.ts';
import {
  chunk,
  event,
  failure,
  json,
  REQUEST_ID,
  type StandInService,
  startStandInService,
  startStream,
  stream,
} from './support/stand-in-service.ts';

const HELLO = { messages: [{ role: 'user', content: 'Ciao' }] } as const;

let service: StandInService;
let client: SvcClient;

beforeAll(async () => {
  service = await startStandInService();
});
afterAll(() => service.stop());
beforeEach(() => {
  service.requests.length = 0;
  client = createSvcClient({ baseUrl: service.url, tokens: async () => 'token' });
});

/** Reads a stream to its end and returns its text and error. */
const collect = async (chunks: AsyncIterable<ChatChunk>): Promise<{ text: string; error: unknown }> => {
  let text = '';
  try {
    for await (const each of chunks) text += each.choices[0]?.delta.content ?? '';
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
};

const interruptionOf = async (chunks: ChatStream): Promise<{ text: string; error: StreamInterruptedError }> => {
  const { text, error } = await collect(chunks);
  if (!(error instanceof StreamInterruptedError)) throw new Error('the stream was not interrupted', { cause: error });
  return { text, error };
};

describe('streamChat', () => {
  test('yields every chunk, also one without choices, and ends after [DONE]', async () => {
    const usage = { ...chunk(''), choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
    service.answerNext(stream(event(chunk('Ci')), ': ping\n\n', event(chunk('ao 🦆')), event(usage), event('[DONE]')));
    const chunks: ChatChunk[] = [];
    const answer = client.streamChat({ ...HELLO, stream_options: { include_usage: true } }, { idempotencyKey: 'k' });
    for await (const each of answer) chunks.push(each);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content)).toEqual(['Ci', 'ao 🦆', undefined]);
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(3);
    expect(await answer.opened()).toEqual({ requestId: REQUEST_ID });
    const { headers, body } = service.last();
    expect(headers).toMatchObject({ accept: 'text/event-stream', 'idempotency-key': 'k' });
    expect(JSON.parse(body.toString())).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('reads the same text wherever the bytes are split', async () => {
    const bytes = Buffer.from(
      `${event(chunk('è 🦆'))}${event(chunk('漢')).replaceAll('\n', '\r\n')}${event('[DONE]')}`,
    );
    for (let cut = 1; cut < bytes.length; cut += 13) {
      service.answerNext(stream(bytes.subarray(0, cut), bytes.subarray(cut)));
      expect(await collect(client.streamChat(HELLO)), `cut at ${cut}`).toEqual({ text: 'è 🦆漢', error: undefined });
    }
    service.answerNext(stream(...[...bytes].map((byte) => Uint8Array.of(byte))));
    expect((await collect(client.streamChat(HELLO))).text).toBe('è 🦆漢');
  });

  test('yields the first chunk while the service is still writing', async () => {
    let finish = (): void => undefined;
    service.answerNext(async (response) => {
      startStream(response);
      response.write(event(chunk('first')));
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      response.end(event('[DONE]'));
    });
    const iterator = client.streamChat(HELLO)[Symbol.asyncIterator]();
    expect((await iterator.next()).value?.choices[0]?.delta.content).toBe('first');
    finish();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test('throws the error of a rejected request at the first step, and from opened()', async () => {
    service.answerNext(failure(402, 'subscription_inactive'), failure(402, 'subscription_inactive'));
    const first = await collect(client.streamChat(HELLO));
    expect(first.error).toBeInstanceOf(SvcError);
    expect(first.error).toMatchObject({ code: 'subscription_inactive', status: 402 });
    await expect(client.streamChat(HELLO).opened()).rejects.toMatchObject({ code: 'subscription_inactive' });
  });

  test('sends nothing before first use', async () => {
    client.streamChat(HELLO);
    await sleep(20);
    expect(service.requests).toEqual([]);
  });
});

describe('interruptions', () => {
  test("an error event ends the stream with the service's code", async () => {
    const error = { code: 'upstream_error', message: 'The provider failed.' };
    service.answerNext(stream(event(chunk('Ci')), event({ error })));
    const interruption = await interruptionOf(client.streamChat(HELLO));
    expect(interruption.text).toBe('Ci');
    expect(interruption.error).toMatchObject({
      ...error,
      requestId: REQUEST_ID,
      // The code alone would be retryable, but something was generated.
      isRetryable: false,
    });
  });

  test('an end without [DONE] is an error', async () => {
    service.answerNext(stream(event(chunk('Ci'))), stream(event(chunk('Ci')), 'data: [DONE]'), stream());
    for (const text of ['Ci', 'Ci', '']) {
      const interruption = await interruptionOf(client.streamChat(HELLO));
      expect(interruption.text).toBe(text);
      expect(interruption.error).toMatchObject({ code: 'stream_interrupted', isRetryable: false });
    }
  });

  test('a connection that breaks is an error', async () => {
    service.answerNext(async (response) => {
      startStream(response);
      response.write(event(chunk('Ci')));
      await sleep(20);
      response.socket?.destroy();
    });
    expect((await interruptionOf(client.streamChat(HELLO))).error).toMatchObject({ code: 'stream_interrupted' });
  });

  test('silence in mid-stream is an error after the timeout, but a slow reader is not', async () => {
    service.answerNext((response) => {
      startStream(response);
      response.write(event(chunk('Ci')));
    });
    const iterator = client.streamChat(HELLO, { timeoutMs: 60 })[Symbol.asyncIterator]();
    await iterator.next();
    await sleep(120);
    const begun = performance.now();
    await expect(iterator.next()).rejects.toBeInstanceOf(StreamInterruptedError);
    expect(performance.now() - begun).toBeGreaterThan(40);
  });

  test('an event that is not JSON, not a chunk, or not in an event stream is an error', async () => {
    service.answerNext(stream(event('{')), stream(event({ object: 'other' })), json(200, chunk('')));
    expect((await interruptionOf(client.streamChat(HELLO))).error.code).toBe('stream_interrupted');
    expect((await interruptionOf(client.streamChat(HELLO))).error.code).toBe('stream_interrupted');
    expect((await collect(client.streamChat(HELLO))).error).toMatchObject({ code: 'invalid_answer' });
  });
});

describe('stopping', () => {
  const endless = async (): Promise<{ closed: () => boolean }> => {
    let isClosed = false;
    service.answerNext(async (response) => {
      response.once('close', () => {
        isClosed = true;
      });
      startStream(response);
      while (!response.destroyed) {
        response.write(event(chunk('x')));
        await sleep(5);
      }
    });
    return { closed: () => isClosed };
  };

  test('leaving the loop closes the connection', async () => {
    const { closed } = await endless();
    for await (const each of client.streamChat(HELLO)) {
      expect(each.model).toBe('svc');
      break;
    }
    await waitFor(closed);
  });

  test("the caller's signal aborts the iteration with the caller's reason", async () => {
    const { closed } = await endless();
    const controller = new AbortController();
    const reason = new Error('the user has left');
    const received: ChatChunk[] = [];
    const read = async () => {
      for await (const each of client.streamChat(HELLO, { signal: controller.signal })) {
        received.push(each);
        controller.abort(reason);
      }
    };
    await expect(read()).rejects.toBe(reason);
    expect(received).not.toEqual([]);
    await waitFor(closed);
  });

  test('throws on a second iteration', async () => {
    service.answerNext(stream(event('[DONE]')));
    const answer = client.streamChat(HELLO);
    await collect(answer);
    expect(() => answer[Symbol.asyncIterator]()).toThrow(TypeError);
  });
});
