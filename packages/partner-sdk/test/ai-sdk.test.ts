import { APICallError, createProviderRegistry, generateText, jsonSchema, Output, streamText, type ToolSet } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSvc, type Svc } from '../src/ai-sdk/index.ts';
import { StreamInterruptedError, SvcError } from '../src/index.ts';
import {
  chunk,
  completion,
  event,
  failure,
  json,
  type StandInService,
  startStandInService,
  stream,
} from './support/stand-in-service.ts';

let service: StandInService;
let svc: Svc;

beforeAll(async () => {
  service = await startStandInService();
  svc = createSvc({ baseUrl: service.url, accessToken: 'token' });
});
afterAll(() => service.stop());

const lastBody = (): Record<string, unknown> => JSON.parse(service.last().body.toString());
/** A tool, with code to run it or without. The types of the AI SDK do not know `exactOptionalPropertyTypes`. */
const toolsWith = (execute?: (input: { city: string }) => Promise<unknown>): ToolSet => {
  const inputSchema = jsonSchema({ type: 'object', properties: { city: { type: 'string' } } });
  return { weather: { description: 'The weather in a city', inputSchema, execute } } as unknown as ToolSet;
};
const toolDelta = (index: number, more: object): object => ({
  ...chunk(''),
  choices: [{ index: 0, delta: { tool_calls: [{ index, ...more }] }, finish_reason: null }],
});
const last = (finish: string): object => ({
  ...chunk(''),
  choices: [{ index: 0, delta: {}, finish_reason: finish }],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8, prompt_tokens_details: { cached_tokens: 2 } },
});

describe('generateText', () => {
  test('sends no model name, and returns text, usage and the public model', async () => {
    service.answerNext(json(200, completion('Ciao!')));
    const result = await generateText({
      model: svc(),
      instructions: 'Be brief.',
      prompt: 'Hello',
      maxOutputTokens: 9,
      temperature: 0.5,
      stopSequences: ['END'],
    });
    expect(result.text).toBe('Ciao!');
    expect(result.usage).toMatchObject({ inputTokens: 3, outputTokens: 5, totalTokens: 8 });
    expect(result.response.modelId).toBe('svc');
    expect(service.last().headers.authorization).toBe('Bearer token');
    expect(lastBody()).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      max_completion_tokens: 9,
      temperature: 0.5,
      stop: ['END'],
      stream: false,
    });
  });

  test('is found in a registry of providers under any name, but has no other models', async () => {
    const registry = createProviderRegistry({ svc });
    service.answerNext(json(200, completion('Ciao!')));
    const { text } = await generateText({ model: registry.languageModel('svc:chat'), prompt: 'Hello' });
    expect(text).toBe('Ciao!');
    expect(() => registry.embeddingModel('svc:any')).toThrow('svc has no embedding models for apps.');
  });

  test('takes a fresh token for each call, and another one if the first is rejected', async () => {
    const tokens = ['stale', 'fresh'];
    const model = createSvc({ baseUrl: service.url, accessToken: async () => tokens.shift() ?? '' })();
    service.answerNext(failure(401, 'invalid_token'), json(200, completion('Ciao!')));
    expect((await generateText({ model, prompt: 'Hello' })).text).toBe('Ciao!');
    expect(service.last().headers.authorization).toBe('Bearer fresh');
  });

  test('runs tools and sends their results back', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Como"}' } };
    const choice = { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] } };
    service.answerNext(
      json(200, { ...completion(''), choices: [{ ...choice, finish_reason: 'tool_calls' }] }),
      json(200, completion('Sunny.')),
    );
    const result = await generateText({
      model: svc(),
      tools: toolsWith(async ({ city }) => ({ [city]: 'sunny' })),
      stopWhen: ({ steps }) => steps.length === 2,
      prompt: 'How is Como?',
    });
    expect(result.text).toBe('Sunny.');
    expect(lastBody()).toMatchObject({
      messages: [
        { role: 'user', content: 'How is Como?' },
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: '{"Como":"sunny"}' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', description: 'The weather in a city' } }],
      tool_choice: 'auto',
    });
  });

  test('asks for JSON by a schema, and sends images as data', async () => {
    service.answerNext(json(200, completion('{"city":"Como"}')));
    const image = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const schema = jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } });
    const result = await generateText({
      model: svc(),
      output: Output.object({ schema }),
      messages: [{ role: 'user', content: [{ type: 'file', data: image, mediaType: 'image/png' }] }],
      providerOptions: { svc: { parallel_tool_calls: false } },
    });
    expect(result.output).toEqual({ city: 'Como' });
    expect(lastBody()).toMatchObject({
      messages: [{ content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] }],
      response_format: { type: 'json_schema', json_schema: { name: 'response', strict: true } },
      parallel_tool_calls: false,
    });
  });

  test('repeats a call that cost nothing, and no other', async () => {
    service.answerNext(
      failure(429, 'subscription_requests_pending', {}, { 'retry-after': '0' }),
      json(200, completion('Ciao!')),
    );
    expect((await generateText({ model: svc(), prompt: 'Hello' })).text).toBe('Ciao!');

    const before = service.requests.length;
    service.answerNext(failure(504, 'upstream_timeout_uncertain'));
    const uncertain = await generateText({ model: svc(), prompt: 'Hello' }).catch((error: unknown) => error);
    expect(uncertain).toBeInstanceOf(SvcError);
    expect(uncertain).toMatchObject({ code: 'upstream_timeout_uncertain' });
    expect(APICallError.isInstance(uncertain)).toBe(true);
    expect(service.requests.length).toBe(before + 1);
  });
});

describe('streamText', () => {
  test('streams text, tool calls and usage', async () => {
    service.answerNext(
      stream(
        ...[event(chunk('Let me ')), event(chunk('look.'))],
        event(toolDelta(0, { id: 'call_1', function: { name: 'weather', arguments: '' } })),
        event(toolDelta(0, { function: { arguments: '{"city":' } })),
        event(toolDelta(0, { function: { arguments: '"Como"}' } })),
        ...[event(last('tool_calls')), event('[DONE]')],
      ),
    );
    const result = streamText({ model: svc(), tools: toolsWith(), prompt: 'How is Como?' });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe('Let me look.');
    expect(await result.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Como' } }]);
    expect(await result.finishReason).toBe('tool-calls');
    expect(await result.usage).toMatchObject({ inputTokens: 3, outputTokens: 5 });
    expect(lastBody()).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(lastBody()).not.toHaveProperty('model');
  });

  test('passes an error of a broken stream on, after the text that came before it', async () => {
    service.answerNext(stream(event(chunk('C’era'))));
    const errors: unknown[] = [];
    const result = streamText({ model: svc(), prompt: 'A story', onError: ({ error }) => void errors.push(error) });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe('C’era');
    expect(errors).toEqual([expect.any(StreamInterruptedError)]);
  });
});
