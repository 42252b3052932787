import type { ServerResponse } from 'node:http';
import { waitFor } from '@svc/testing';
import OpenAI, { APIError } from 'openai';
import type { Response as OpenAIResponse, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let raw: RawProvider;
let client: OpenAI;
let key: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  key = await createKey(gateway);
  client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
afterEach(() => useProviders(gateway, { sandbox: `${gateway.provider.url}/v1` }));

const MODEL = 'sandbox-chat-1';
const post = (body: object, headers: Record<string, string> = {}) =>
  postText(JSON.stringify({ model: 'svc-chat', ...body }), headers);
const postText = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  });
const json = async (answer: Response) => JSON.parse(await answer.text());
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [event = '', data = ''] = block.split('\n');
      const parsed = JSON.parse(data.slice('data: '.length));
      expect(parsed.type).toBe(event.slice('event: '.length));
      return parsed;
    });
const recordOf = (answer: Response) =>
  waitFor(() =>
    gateway.database
      .knex('usage_records')
      .where({ request_id: answer.headers.get('x-request-id') })
      .first(),
  );
const chunk = (delta: object, more: object = {}, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: MODEL, choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
const usage = {
  prompt_tokens: 50,
  completion_tokens: 9,
  total_tokens: 59,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 4 },
};
const usageChunk = `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: MODEL, choices: [], usage })}\n\n`;
const play = async (answer: (res: ServerResponse) => void): Promise<void> => {
  await useProviders(gateway, { raw: raw.url });
  raw.handle = (_req, res) => answer(res);
};
const playStream = (...pieces: string[]) => play((res) => eventStream(res).end(pieces.join('')));
const playAnswer = (choice: object) =>
  play((res) =>
    res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' }).end(
      JSON.stringify({
        id: 'c1',
        object: 'chat.completion',
        created: 1,
        model: MODEL,
        choices: [{ index: 0, ...choice }],
        usage,
      }),
    ),
  );
const sent = () => JSON.parse(raw.bodies.at(-1)?.toString() ?? '');
const stream = async (body: object, headers = {}) => {
  const answer = await post({ stream: true, ...body }, headers);
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  return { answer, events: eventsOf(await answer.text()) };
};

describe('a response', () => {
  test('has the text, the usage with its details, and the compliance metadata', async () => {
    await playAnswer({ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' });
    const answer = await post({ input: 'Hi', instructions: 'Be brief', temperature: 0.5, metadata: { a: 'b' } });
    expect(answer.status).toBe(200);
    const body = await json(answer);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      status: 'completed',
      model: MODEL,
      error: null,
      incomplete_details: null,
      instructions: 'Be brief',
      temperature: 0.5,
      store: false,
      previous_response_id: null,
      metadata: { a: 'b' },
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
        },
      ],
      usage: {
        input_tokens: 50,
        input_tokens_details: { cached_tokens: 40 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 59,
      },
      extensions: { compliance_metadata: { schema_version: '2', model: MODEL, upstream_request_id: 'upstream-1' } },
    });
    expect(answer.headers.get('x-svc-compliance-model')).toBe(MODEL);
    expect(await recordOf(answer)).toMatchObject({
      service: 'chat',
      input_tokens: 50,
      cached_input_tokens: 40,
      reasoning_tokens: 4,
      outcome: 'settled',
    });
  });

  test('has the standard body in mode `headers`', async () => {
    const answer = await post({ input: 'Hi' }, { 'x-svc-compliance': 'headers' });
    expect((await json(answer)).extensions).toBeUndefined();
    expect(answer.headers.get('x-svc-compliance-schema-version')).toBe('2');
  });

  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('is incomplete if the chat ended with %s', async (finish_reason, reason) => {
    await playAnswer({ message: { role: 'assistant', content: 'Hel' }, finish_reason });
    expect(await json(await post({ input: 'Hi' }))).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason },
      output: [{ status: 'incomplete' }],
    });
  });

  test('shows a refusal and function calls as items', async () => {
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"a":1}' } }];
    await playAnswer({
      message: { role: 'assistant', content: null, refusal: 'No', tool_calls },
      finish_reason: 'tool_calls',
    });
    expect((await json(await post({ input: 'Hi' }))).output).toMatchObject([
      { type: 'message', content: [{ type: 'refusal', refusal: 'No' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"a":1}', status: 'completed' },
    ]);
  });

  test("passes on the provider's refusal with its message, and maps its outage", async () => {
    await play((res) =>
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"too long","code":"x"}}'),
    );
    const refused = await post({ input: 'Hi' });
    expect([refused.status, (await json(refused)).error.message]).toEqual([400, 'too long']);
    await play((res) => res.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"down"}}'));
    const failed = await post({ input: 'Hi' });
    expect([failed.status, (await json(failed)).error.code]).toEqual([503, 'upstream_unavailable']);
  });
});

describe('values that are only passed on', () => {
  /** Numbers that parsing changes, integer keys that it sorts, and members that it drops. */
  const SCHEMA =
    '{ "type":"object",\n"properties":{"2":{"const":9007199254740993},"1":{"maximum":9223372036854775807,"multipleOf":1.0,"x":1e400}},\n"x":1,"x":2 }';
  const COMPACT = SCHEMA.replaceAll(/[ \n]/g, '');
  const REQUEST = `{"model":"svc-chat","input":[{"role":"user","content":"Hi"},{"type":"function_call","call_id":"c","name":"f","arguments":${SCHEMA}}],
    "tools":[{"type":"function","name":"f","parameters":${SCHEMA}}],"temperature":1.0,"top_p":0.10,"max_output_tokens":16,
    "text":{"format":{"type":"json_schema","name":"n","schema":${SCHEMA}}},"stop":null,"tool_choice":null`;

  test('reach the provider as the caller wrote them', async () => {
    await playAnswer({ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' });
    expect((await postText(`${REQUEST}}`)).status).toBe(200);
    const body = String(raw.bodies.at(-1));
    expect(body).toContain(`"parameters":${SCHEMA}`);
    expect(body).toContain(`"schema":${SCHEMA}`);
    expect(body).toContain('"temperature":1.0,"top_p":0.10');
    expect(sent().messages[1].tool_calls[0].function.arguments).toBe(SCHEMA);
  });

  test('are echoed as the caller wrote them, without line ends that would break an event', async () => {
    await playStream(chunk({ content: 'ok' }, {}, 'stop'), usageChunk, 'data: [DONE]\n\n');
    const text = await (await postText(`${REQUEST},"stream":true}`)).text();
    expect(eventsOf(text).at(-1)).toMatchObject({ type: 'response.completed' });
    expect(text).toContain(`"temperature":1.0,"text":{"format":{"type":"json_schema","name":"n","schema":${COMPACT}}}`);
    expect(text).toContain(`"tools":[{"type":"function","name":"f","parameters":${COMPACT}}]`);
  });

  test('reach the caller as the provider wrote them: arguments that are an object', async () => {
    const args = '{"b":9007199254740993,"a":1.0}';
    const call = (part: string) =>
      `{"index":0,"${part}":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":${args}}}]},"finish_reason":"tool_calls"}`;
    const answer = (part: string) =>
      `{"id":"c1","model":"${MODEL}","choices":[${call(part)}],"usage":${JSON.stringify(usage)}}`;
    await play((res) =>
      res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' }).end(answer('message')),
    );
    expect((await json(await post({ input: 'Hi' }))).output[0].arguments).toBe(args);
    await playStream(`data: ${answer('delta')}\n\n`, 'data: [DONE]\n\n');
    const { events } = await stream({ input: 'Hi' });
    expect(events.at(-1).response.output[0].arguments).toBe(args);
  });

  test('that are empty count as absent', async () => {
    await playAnswer({ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' });
    const empty = { previous_response_id: '', conversation: {}, prompt: null, tools: [], tool_choice: '', user: '' };
    expect((await post({ input: 'Hi', ...empty })).status).toBe(200);
    expect(Object.keys(sent()).sort()).toEqual(['messages', 'model']);
  });
});

describe('the chat request', () => {
  test('contains the messages, calls, outputs, images and settings of the response request', async () => {
    await playAnswer({ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' });
    const schema = { type: 'object', properties: {} };
    await post({
      instructions: 'Be brief',
      input: [
        { role: 'developer', content: 'Rules' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Calling' }] },
        { type: 'function_call', call_id: 'c1', name: 'one', arguments: '{}' },
        { type: 'function_call', call_id: 'c2', name: 'two', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'first' },
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'second' }] },
      ],
      tools: [{ type: 'function', name: 'one', description: 'd', parameters: schema, strict: true }],
      tool_choice: { type: 'function', name: 'one' },
      text: { format: { type: 'json_schema', name: 'n', schema, strict: true } },
      max_output_tokens: 77,
      reasoning: { effort: 'low' },
      top_p: 0.9,
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    expect(sent()).toEqual({
      model: MODEL,
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'system', content: 'Rules' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: 'Calling',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'one', arguments: '{}' } },
            { id: 'c2', type: 'function', function: { name: 'two', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'first' },
        { role: 'tool', tool_call_id: 'c2', content: 'second' },
      ],
      tools: [{ type: 'function', function: { name: 'one', description: 'd', parameters: schema, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'one' } },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
      max_completion_tokens: 77,
      reasoning_effort: 'low',
      top_p: 0.9,
    });
  });

  test.each([
    ['store', { store: true }],
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['background', { background: true }],
    ['conversation', { conversation: 'conv_1' }],
    ['tools', { tools: [{ type: 'web_search' }] }],
    ['truncation', { truncation: 'auto' }],
  ])('is refused with 400 unsupported_parameter for %s', async (param, more) => {
    const answer = await post({ input: 'Hi', ...more });
    expect(answer.status).toBe(400);
    expect((await json(answer)).error).toMatchObject({
      code: 'unsupported_parameter',
      param,
      type: 'invalid_request_error',
    });
  });

  test('is refused for an item_reference with advice for the AI SDK', async () => {
    const answer = await post({ input: [{ type: 'item_reference', id: 'msg_1' }] });
    expect(answer.status).toBe(400);
    const { error } = await json(answer);
    expect(error).toMatchObject({ code: 'unsupported_parameter', param: 'input' });
    expect(error.message).toContain('store: false');
  });

  test.each([
    ['no input', {}, 'input'],
    ['an empty list', { input: [] }, 'input'],
    ['no room for output', { input: 'Hi', max_output_tokens: 0 }, 'max_output_tokens'],
  ])('is refused with 400 for %s', async (_name, body, param) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect((await json(answer)).error).toMatchObject({
      code: 'invalid_request_error',
      param: expect.stringContaining(param),
    });
  });
});

describe('a stream', () => {
  test('sends the events of a text in order, and ends with the response and its metadata', async () => {
    await playStream(
      chunk({ role: 'assistant', content: '' }),
      ...['Hel', 'lo ', '"you"', '!'].map((content) => chunk({ content })),
      chunk({}, {}, 'stop'),
      usageChunk,
      'data: [DONE]\n\n',
    );
    const { answer, events } = await stream({ input: 'Hi' });
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      ...Array.from({ length: 4 }, () => 'response.output_text.delta'),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const done = events.find(({ type }) => type === 'response.output_text.done');
    expect(done).toMatchObject({ output_index: 0, content_index: 0, text: 'Hello "you"!' });
    const { response, extensions } = events.at(-1);
    expect(response).toMatchObject({
      status: 'completed',
      output: [{ type: 'message', status: 'completed', content: [{ text: 'Hello "you"!' }] }],
      usage: { input_tokens: 50, input_tokens_details: { cached_tokens: 40 }, output_tokens: 9 },
    });
    expect(extensions).toEqual(response.extensions);
    expect(extensions.compliance_metadata.gateway_request_id).toBe(answer.headers.get('x-request-id'));
    expect(sent()).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(await recordOf(answer)).toMatchObject({ output_tokens: 9, outcome: 'settled', streamed: true });
  });

  test('sends function calls in pieces as consecutive items', async () => {
    const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
    await playStream(
      chunk({ role: 'assistant', content: 'Wait' }),
      call(0, { id: 'call_a', type: 'function', function: { name: 'one', arguments: '' } }),
      call(0, { function: { arguments: '{"x"' } }),
      call(0, { function: { arguments: ':1}' } }),
      call(1, { id: 'call_b', type: 'function', function: { name: 'two', arguments: '{}' } }),
      chunk({}, {}, 'tool_calls'),
      usageChunk,
      'data: [DONE]\n\n',
    );
    const { events } = await stream({ input: 'Hi' });
    expect(events.slice(5, -1).map(({ type, output_index }) => [type.replace('response.', ''), output_index])).toEqual([
      ['output_text.done', 0],
      ['content_part.done', 0],
      ['output_item.done', 0],
      ['output_item.added', 1],
      ['function_call_arguments.delta', 1],
      ['function_call_arguments.delta', 1],
      ['function_call_arguments.done', 1],
      ['output_item.done', 1],
      ['output_item.added', 2],
      ['function_call_arguments.delta', 2],
      ['function_call_arguments.done', 2],
      ['output_item.done', 2],
    ]);
    expect(events.at(-1).response.output).toMatchObject([
      { type: 'message' },
      { type: 'function_call', call_id: 'call_a', name: 'one', arguments: '{"x":1}' },
      { type: 'function_call', call_id: 'call_b', name: 'two', arguments: '{}' },
    ]);
  });

  test('sends a refusal', async () => {
    await playStream(
      chunk({ role: 'assistant', refusal: 'I ' }),
      chunk({ refusal: 'cannot' }),
      chunk({}, {}, 'stop'),
      'data: [DONE]\n\n',
    );
    const { events } = await stream({ input: 'Hi' });
    expect(events.map(({ type }) => type)).toContain('response.refusal.delta');
    expect(events.find(({ type }) => type === 'response.refusal.done')).toMatchObject({ refusal: 'I cannot' });
    expect(events.at(-1).response.output[0].content).toEqual([{ type: 'refusal', refusal: 'I cannot' }]);
  });

  test('ends with response.incomplete at the output limit', async () => {
    await playStream(chunk({ content: 'Hel' }), chunk({}, {}, 'length'), usageChunk, 'data: [DONE]\n\n');
    const { events } = await stream({ input: 'Hi', max_output_tokens: 1 });
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ status: 'incomplete' }],
      },
    });
  });

  test('that breaks off ends with an error and response.failed, and its outcome is uncertain', async () => {
    await play((res) => {
      eventStream(res).write(chunk({ content: 'Hel' }));
      setTimeout(() => res.destroy(), 50);
    });
    const { answer, events } = await stream({ input: 'Hi' });
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', code: 'upstream_timeout_uncertain', error: { code: 'upstream_timeout_uncertain' } },
      { type: 'response.failed', response: { status: 'failed', error: { code: 'upstream_timeout_uncertain' } } },
    ]);
    expect(await recordOf(answer)).toMatchObject({ outcome: 'uncertain' });
  });

  test('has no metadata in its events in mode `headers`', async () => {
    await playStream(chunk({ content: 'Hi' }), chunk({}, {}, 'stop'), 'data: [DONE]\n\n');
    const { events } = await stream({ input: 'Hi' }, { 'x-svc-compliance': 'headers' });
    expect(JSON.stringify(events)).not.toContain('compliance_metadata');
  });
});

describe('the openai SDK', () => {
  test('reads a response, and a stream through its helper', async () => {
    const answer = await client.responses.create({ model: 'svc-chat', input: 'Hi there [[echo]]' });
    expect(answer.output_text).toBe('Hi there');
    const helper = client.responses.stream({ model: 'svc-chat', input: 'Hi there [[echo]]' });
    const types: ResponseStreamEvent['type'][] = [];
    for await (const event of helper) types.push(event.type);
    expect(types.at(-1)).toBe('response.completed');
    const final: OpenAIResponse = await helper.finalResponse();
    expect(final.output_text).toBe('Hi there');
    expect(final.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('completes a function call in two turns', async () => {
    const tools = [{ type: 'function' as const, name: 'look_up', parameters: { type: 'object' }, strict: null }];
    const first = await client.responses.create({ model: 'svc-chat', tools, input: '[[tool_call]] x' });
    const [call] = first.output;
    if (call?.type !== 'function_call') throw new Error('the model called no function');
    const input = [...first.output, { type: 'function_call_output' as const, call_id: call.call_id, output: 'found' }];
    const second = await client.responses.create({
      model: 'svc-chat',
      tools,
      input: [...(input as OpenAI.Responses.ResponseInput), { role: 'user', content: 'And? [[echo]]' }],
    });
    expect(second.output_text).toBe('And?');
  });

  test('throws the error of a stream that breaks off', async () => {
    await play((res) => {
      eventStream(res).write(chunk({ content: 'Hel' }));
      setTimeout(() => res.destroy(), 50);
    });
    const reading = (async () => {
      for await (const _event of await client.responses.create({ model: 'svc-chat', input: 'Hi', stream: true }));
    })();
    await expect(reading).rejects.toBeInstanceOf(APIError);
  });
});
