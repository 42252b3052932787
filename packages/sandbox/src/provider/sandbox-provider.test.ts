import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { countTokens, createSandboxProvider, type SandboxProvider } from './index.ts';

const KEY = 'sandbox-test-key';
let provider: SandboxProvider;

beforeEach(async () => {
  provider = await createSandboxProvider({ port: 0, apiKey: KEY });
});
afterEach(() => provider.stop());

const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${provider.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const chat = (content: string, more: object = {}): Promise<Response> =>
  post('/v1/chat/completions', { model: 'sandbox-chat-1', messages: [{ role: 'user', content }], ...more });

/** Response fields that these tests read. */
interface WireBody {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly choices: { finish_reason: string; message: { content: string } }[];
  readonly data: { id: string; embedding: string & number[] }[];
  readonly usage: { completion_tokens: number };
  readonly error: { code: string };
}

// The assertions check the shape.
const jsonOf = async (response: Response | Promise<Response>): Promise<WireBody> =>
  (await (await response).json()) as WireBody;

const dataOf = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));

const contentOf = (text: string): string[] =>
  dataOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data).choices[0]?.delta.content)
    .filter((content) => typeof content === 'string' && content !== '');

describe('chat completions as JSON', () => {
  test('responds in the wire format with exact usage, a dated model and a request id', async () => {
    const response = await chat('What is the capital of France?');
    const body = await jsonOf(response);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-request-id')).toMatch(/^req-sandbox-/);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: 'sandbox-chat-1-2026-06-01',
      system_fingerprint: 'fp_sandbox_1',
      choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'stop' }],
    });
    const output = countTokens(body.choices[0]?.message.content ?? '');
    expect(body.usage).toMatchObject({ prompt_tokens: 8, completion_tokens: output, total_tokens: 8 + output });
  });

  test('gives the same answer to the same request and another to another', async () => {
    const [first, again, other] = await Promise.all(
      ['one', 'one', 'two'].map(async (prompt) => (await jsonOf(chat(prompt))).choices[0]?.message.content),
    );
    expect(first).toBe(again);
    expect(first).not.toBe(other);
  });

  test('applies max_tokens exactly and sets finish_reason to length', async () => {
    const body = await jsonOf(chat('long please', { max_tokens: 3 }));
    expect(body.usage.completion_tokens).toBe(3);
    expect(body.choices[0]?.finish_reason).toBe('length');
  });

  test('calls the tool that the directive names', async () => {
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: {} } }];
    const body = await jsonOf(chat('weather [[tool_call]]', { tools }));
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ function: { name: 'look_up', arguments: '{"input":"weather"}' } }] },
    });
  });

  test('answers with the result once the tool has returned it, and calls again for the next question', async () => {
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: {} } }];
    const question = { role: 'user', content: 'weather [[tool_call]]' };
    const result = { role: 'tool', tool_call_id: 'call_1', content: 'sunny' };
    const messages = [question, { role: 'assistant', content: null }, result];
    const ask = async (given: object[]) =>
      (await jsonOf(post('/v1/chat/completions', { model: 'm', tools, messages: given }))).choices[0];
    expect(await ask(messages)).toMatchObject({ finish_reason: 'stop', message: { content: 'sunny' } });
    expect(await ask([...messages, question])).toMatchObject({ finish_reason: 'tool_calls' });
  });

  test('answers with an instance of the schema in response_format', async () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'array', items: { $ref: '#/$defs/day' }, minItems: 2 },
        unit: { enum: ['celsius', 'kelvin'] },
        note: { anyOf: [{ type: 'null' }, { type: 'string' }] },
      },
      required: ['city', 'days'],
      $defs: { day: { type: 'object', properties: { degrees: { type: 'integer', minimum: 5, maximum: 9 } } } },
    };
    const response_format = { type: 'json_schema', json_schema: { name: 'weather', schema } };
    const body = await jsonOf(chat('Rome', { response_format }));
    expect(JSON.parse(body.choices[0]?.message.content ?? '')).toEqual({
      city: 'Rome',
      days: [{ degrees: 5 }, { degrees: 5 }],
      unit: 'celsius',
      note: null,
    });
  });

  test('reads text parts and counts an echo in code points', async () => {
    const content = [
      { type: 'text', text: '[[echo]] 😀😀😀😀😀' },
      { type: 'image_url', image_url: { url: 'data:' } },
    ];
    const messages = [{ role: 'user', content }];
    const body = await jsonOf(post('/v1/chat/completions', { model: 'm', messages }));
    expect(body.choices[0]?.message.content).toBe('😀😀😀😀😀');
    expect(body.usage.completion_tokens).toBe(2);
  });
});

describe('chat completions as a stream', () => {
  test('ends with finish_reason, the requested usage chunk with empty choices, and [DONE]', async () => {
    const response = await chat('stream [[chunks=50]]', { stream: true, stream_options: { include_usage: true } });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const text = await response.text();
    const events = dataOf(text);
    expect(contentOf(text)).toHaveLength(50);
    expect(events.at(-1)).toBe('[DONE]');
    const usage = JSON.parse(events.at(-2) ?? '');
    expect(usage.choices).toEqual([]);
    expect(usage.usage.completion_tokens).toBe(countTokens(contentOf(text).join('')));
    expect(JSON.parse(events.at(-3) ?? '').choices[0]?.finish_reason).toBe('stop');
  });

  test('omits the usage chunk if not requested or with [[no_usage]]', async () => {
    const plain = await (await chat('hello', { stream: true })).text();
    const silent = await (await chat('[[no_usage]]', { stream: true, stream_options: { include_usage: true } })).text();
    expect(plain).not.toContain('usage');
    expect(silent).not.toContain('usage');
  });

  test('streams the same text as JSON responses have, also in fragments', async () => {
    const whole = await jsonOf(chat('same [[fragment_bytes=97]]'));
    const text = await (await chat('same [[fragment_bytes=97]]', { stream: true })).text();
    expect(contentOf(text).join('')).toBe(whole.choices[0]?.message.content);
  });

  test('drops the connection after the requested chunks and bills the whole answer', async () => {
    const response = await chat('[[chunks=10]] [[drop_after=3]] [[answer_tokens=40]]', { stream: true });
    let text = '';
    await expect(
      (async () => {
        for await (const part of response.body ?? []) text += Buffer.from(part).toString();
      })(),
    ).rejects.toThrow();
    expect(contentOf(text)).toHaveLength(3);
    expect(provider.counts().billed.output_tokens).toBe(40);
  });

  test('stops writing when the client disconnects and bills the whole answer', async () => {
    const leaving = new AbortController();
    const response = await fetch(`${provider.url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: '[[chunk_delay_ms=50]] [[answer_tokens=500]]' }],
      }),
    });
    expect(response.status).toBe(200);
    leaving.abort();
    expect(provider.counts().billed).toMatchObject({ requests: 1, output_tokens: 500 });
    await provider.stop();
  });

  test('applies backpressure if the client does not read', async () => {
    const body = JSON.stringify({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: '[[chunks=40000]] [[answer_tokens=200000]]' }],
    });
    const headers = { authorization: `Bearer ${KEY}`, 'content-length': Buffer.byteLength(body) };
    const text = await new Promise<string>((resolve, reject) => {
      const req = request(`${provider.url}/v1/chat/completions`, { method: 'POST', headers }, (res) => {
        res.setEncoding('utf8');
        let received = '';
        res.on('data', (part: string) => {
          received += part;
          if (received.length === part.length) {
            res.pause();
            setTimeout(() => res.resume(), 100);
          }
        });
        res.on('end', () => resolve(received));
        res.on('error', reject);
      });
      req.on('error', reject);
      req.end(body);
    });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(contentOf(text)).toHaveLength(40_000);
  });
});

describe('faults by directive', () => {
  test('responds with the requested status, an error body and Retry-After, and bills nothing', async () => {
    const response = await chat('[[status=503]] [[retry_after=2]]');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect((await jsonOf(response)).error).toMatchObject({ type: 'server_error', message: expect.any(String) });
    expect(provider.counts()).toMatchObject({ requests: 1, statuses: { 503: 1 }, billed: { requests: 0 } });
  });

  test('resets the connection without a response and bills nothing', async () => {
    await expect(chat('[[reset]]')).rejects.toThrow();
    expect(provider.counts()).toMatchObject({ statuses: { reset: 1 }, billed: { requests: 0 } });
  });

  test('delays a response without delaying others', async () => {
    let isDelayedOver = false;
    const delayed = chat('[[delay_ms=60000]]').finally(() => {
      isDelayedOver = true;
    });
    expect((await chat('Hello')).status).toBe(200);
    expect(isDelayedOver).toBe(false);
    await provider.stop();
    await expect(delayed).rejects.toThrow();
  });

  test('names another model, omits ids and usage', async () => {
    const response = await chat('[[model=other]] [[no_request_id]] [[no_id]] [[no_usage]]');
    const body = await jsonOf(response);
    expect(response.headers.has('x-request-id')).toBe(false);
    expect(body.model).toBe('other');
    expect(body).not.toHaveProperty('id');
    expect(body).not.toHaveProperty('usage');
  });

  test('sends an error event mid-stream and ends without [DONE]', async () => {
    const text = await (await chat('[[chunks=5]] [[error_after=2]]', { stream: true })).text();
    expect(contentOf(text.replace(/data: \{"error".*$/s, ''))).toHaveLength(2);
    expect(text).toContain('"error"');
    expect(text).not.toContain('[DONE]');
  });

  test('reports and bills the tokens that the prompt requests', async () => {
    const body = await jsonOf(chat('[[prompt_tokens=1000]] [[completion_tokens=2000]]'));
    expect(body.usage).toMatchObject({ prompt_tokens: 1000, completion_tokens: 2000, total_tokens: 3000 });
    expect(provider.counts().billed).toMatchObject({ input_tokens: 1000, output_tokens: 2000 });
  });

  test('rejects a directive with an invalid value and ignores unknown ones', async () => {
    expect((await chat('[[delay_ms=soon]]')).status).toBe(400);
    expect((await chat('[[my_page]]')).status).toBe(200);
  });
});

describe('the other endpoints', () => {
  test('answers legacy completions for one and several prompts', async () => {
    const body = await jsonOf(post('/v1/completions', { model: 'm', prompt: ['four', 'word'], max_tokens: 2 }));
    expect(body).toMatchObject({ object: 'text_completion', choices: [{ index: 0 }, { index: 1 }] });
    expect(body.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4 });
    const stream = await (await post('/v1/completions', { model: 'm', prompt: 'x', stream: true })).text();
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('answers the same embedding as floats and as base64', async () => {
    const input = ['a text', [1, 2, 3]];
    const floats = await jsonOf(post('/v1/embeddings', { model: 'm', input, dimensions: 8 }));
    const packed = await jsonOf(
      post('/v1/embeddings', { model: 'm', input, dimensions: 8, encoding_format: 'base64' }),
    );
    const bytes = Buffer.from(packed.data[0]?.embedding ?? '', 'base64');
    const unpacked = Array.from({ length: 8 }, (_, index) => bytes.readFloatLE(index * 4));
    expect(unpacked).toEqual(floats.data[0]?.embedding);
    expect(Math.hypot(...unpacked)).toBeCloseTo(1, 5);
    expect(floats.data).toHaveLength(2);
    expect(floats.usage).toEqual({ prompt_tokens: 5, total_tokens: 5 });
  });

  test('transcribes a WAV file with its duration, and bills whole seconds', async () => {
    const header = Buffer.alloc(44);
    header.write('RIFF', 0, 'latin1');
    header.write('WAVEfmt ', 8, 'latin1');
    header.writeUInt32LE(16, 16);
    header.writeUInt32LE(32_000, 28);
    header.write('data', 36, 'latin1');
    header.writeUInt32LE(80_000, 40);
    const file = new Blob([header, Buffer.alloc(80_000)], { type: 'audio/wav' });
    const send = async (format: string) => {
      const form = new FormData();
      form.set('model', 'sandbox-audio-1');
      form.set('file', file, 'talk.wav');
      form.set('response_format', format);
      const headers = { authorization: `Bearer ${KEY}` };
      return (await fetch(`${provider.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })).json();
    };
    expect(await send('verbose_json')).toMatchObject({ task: 'transcribe', duration: 2.5, segments: [{ end: 2.5 }] });
    expect(await send('json')).toEqual({ text: expect.any(String), usage: { type: 'duration', seconds: 3 } });
    expect(provider.counts().billed).toMatchObject({ requests: 2, audio_seconds: 6 });
  });

  test('lists its models', async () => {
    const response = await fetch(`${provider.url}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } });
    expect((await jsonOf(response)).data.map(({ id }) => id)).toContain('sandbox-chat-1');
  });

  test('serves and resets its counts', async () => {
    await chat('count me');
    const counts = await (await fetch(`${provider.url}/sandbox/counts`)).json();
    expect(counts).toMatchObject({
      requests: 1,
      statuses: { 200: 1 },
      billed: { input_tokens: 2, by_model: { 'sandbox-chat-1-2026-06-01': { requests: 1 } } },
    });
    await fetch(`${provider.url}/sandbox/counts`, { method: 'DELETE' });
    expect(provider.counts().requests).toBe(0);
  });
});

describe('refusals', () => {
  test('requires its key', async () => {
    const response = await post('/v1/chat/completions', {}, { authorization: 'Bearer wrong' });
    expect(response.status).toBe(401);
    expect((await jsonOf(response)).error).toMatchObject({ code: 'invalid_api_key', type: 'authentication_error' });
  });

  test('returns 400 for invalid requests, 404 for unknown paths and 405 for other methods', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    expect((await post('/v1/chat/completions', { model: 'm' })).status).toBe(400);
    const deep = `{"model":"m","messages":[{"role":"user","content":"Hi","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}]}`;
    expect((await fetch(`${provider.url}/v1/chat/completions`, { method: 'POST', headers, body: deep })).status).toBe(
      400,
    );
    expect((await post('/v1/nothing', {})).status).toBe(404);
    expect((await fetch(`${provider.url}/v1/chat/completions`, { headers })).status).toBe(405);
  });
});
