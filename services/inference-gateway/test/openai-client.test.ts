import { costOfTokens } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createKey, PRICE, startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startGateway();
  client = new OpenAI({ apiKey: await createKey(gateway), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const messages = (content: string) => [{ role: 'user' as const, content }];

describe('the openai SDK, with only base URL and key changed', () => {
  test('reads a chat completion', async () => {
    const answer = await client.chat.completions.create({ model: 'svc-chat', messages: messages('Hi [[echo]]') });
    expect(answer.choices[0]?.message.content).toBe('Hi');
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('reads a chat stream, directly and through the helper', async () => {
    const stream = await client.chat.completions.create({
      model: 'svc-chat',
      stream: true,
      messages: messages('Hi there [[echo]]'),
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('Hi there');
    const helper = client.chat.completions.stream({ model: 'svc-chat', messages: messages('Hi there [[echo]]') });
    expect(await helper.finalContent()).toBe('Hi there');
  });

  test('reads tool calls', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: {} } }];
    const answer = await client.chat.completions.create({
      model: 'svc-chat',
      tools,
      messages: messages('[[tool_call]] x'),
    });
    expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: 'look_up' } });
  });

  test('is charged for a stream that it aborts: the provider is read to its end', async () => {
    const stream = await client.chat.completions.create({
      model: 'svc-chat',
      stream: true,
      messages: messages('Hi [[chunks=10]] [[chunk_delay_ms=20]] [[completion_tokens=77]]'),
    });
    for await (const _chunk of stream) break;
    await waitFor(() =>
      gateway.database.knex('usage_records').where({ output_tokens: 77, outcome: 'settled' }).first(),
    );
  });

  test('parses structured output', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'place', strict: true, schema } };
    const request = { model: 'svc-chat', response_format, messages: messages('{"city":"Turin"} [[echo]]') };
    const answer = await client.chat.completions.parse(request);
    expect(answer.choices[0]?.message.parsed).toEqual({ city: 'Turin' });
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual({ city: 'Turin' });
  });

  test('runs tools to the final answer, and streams their calls', async () => {
    const inputs: string[] = [];
    const look_up = {
      type: 'function' as const,
      function: {
        name: 'look_up',
        description: 'Looks up.',
        parameters: { type: 'object' as const },
        parse: (text: string): { input: string } => JSON.parse(text),
        function: ({ input }: { input: string }) => {
          inputs.push(input);
          return 'found';
        },
      },
    };
    const runner = client.chat.completions.runTools(
      { model: 'svc-chat', tools: [look_up], messages: messages('[[tool_call]] x') },
      { maxChatCompletions: 2 },
    );
    await runner.done();
    expect(inputs[0]).toBe('x');
    const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: {} } }];
    const stream = client.chat.completions.stream({ model: 'svc-chat', tools, messages: messages('[[tool_call]] y') });
    const [call] = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ function: { name: 'look_up', arguments: '{"input":"y"}' } });
  });

  test('reads the usage of a stream and the headers of an answer, and aborts before an answer', async () => {
    const stream = await client.chat.completions.create({
      model: 'svc-chat',
      stream: true,
      stream_options: { include_usage: true },
      messages: messages('Hi'),
    });
    const usages: unknown[] = [];
    for await (const { usage } of stream) if (usage) usages.push(usage);
    expect(usages).toHaveLength(1);
    const { response, request_id } = await client.chat.completions
      .create({ model: 'svc-chat', messages: messages('Hi') })
      .withResponse();
    expect(response.headers.get('x-svc-compliance-gateway-request-id')).toBe(request_id);
    const served = gateway.provider.counts().requests;
    const gone = new AbortController();
    const aborted = client.chat.completions.create(
      { model: 'svc-chat', messages: messages('[[delay_ms=300]] [[completion_tokens=78]]') },
      { signal: gone.signal },
    );
    await waitFor(() => gateway.provider.counts().requests > served);
    gone.abort();
    await expect(aborted).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await waitFor(() => gateway.database.knex('usage_records').where({ output_tokens: 78 }).first());
  });

  test('retries definite failures, but no uncertain ones', async () => {
    const retrying = client.withOptions({ maxRetries: 2 });
    const admitted = gateway.billing.admissions.length;
    const answer = retrying.chat.completions.create({
      model: 'svc-chat',
      messages: messages('[[status=503]] [[retry_after=0]]'),
    });
    await expect(answer).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    expect(gateway.billing.admissions.length - admitted).toBe(3);
    const uncertain = retrying.chat.completions.create({ model: 'svc-chat', messages: messages('[[reset]]') });
    await expect(uncertain).rejects.toMatchObject({ status: 504, code: 'upstream_timeout_uncertain' });
    expect(gateway.billing.admissions.length - admitted).toBe(4);
    let refusals = 2;
    gateway.billing.decide = () => {
      refusals -= 1;
      return refusals < 0
        ? { verdict: 'admitted' }
        : { verdict: 'rate_limit_exceeded', rate_limit: { limit: 1, remaining: 0, reset_ms: 10 } };
    };
    const served = await retrying.chat.completions.create({ model: 'svc-chat', messages: messages('Hi [[echo]]') });
    expect(served.choices[0]?.message.content).toBe('Hi');
    gateway.billing.decide = () => ({ verdict: 'admitted' });
  });

  test('reads legacy completions, embeddings and models', async () => {
    const completion = await client.completions.create({ model: 'svc-completion', prompt: 'Hi' });
    expect(completion.choices[0]?.text.length).toBeGreaterThan(0);
    const stream = await client.completions.create({ model: 'svc-completion', prompt: 'Hi [[echo]]', stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
    expect(text).toBe('Hi');
    const embedding = await client.embeddings.create({ model: 'svc-embedding', input: 'Hi' });
    expect(embedding.data[0]?.embedding.length).toBe(256);
    const many = await client.embeddings.create({
      model: 'svc-embedding',
      input: ['a', 'b'],
      encoding_format: 'float',
      dimensions: 8,
    });
    expect(many.data.map((each) => each.embedding.length)).toEqual([8, 8]);
    const models: string[] = [];
    for await (const model of client.models.list()) models.push(model.id);
    expect(models).toContain('svc-chat');
  });

  test('retrieves a model', async () => {
    const listed = (await client.models.list()).data.find(({ id }) => id === 'svc-chat');
    expect(await client.models.retrieve('svc-chat')).toEqual(listed);
    const unknown = client.models.retrieve('unknown:v1@eu');
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(unknown).rejects.toMatchObject({ code: 'model_not_found', param: 'model' });
    await expect(client.models.retrieve('x'.repeat(129))).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });

  describe('a wallet that does not cover the request', () => {
    const outputPrice = (tokens: number): number => costOfTokens(PRICE, { input: 0, output: tokens });
    const least = () => {
      const admission = gateway.billing.admissions.at(-1);
      if (admission?.kind !== 'api_key') throw new Error('no API-key request was admitted');
      return { least: admission.micros_least ?? admission.hold_micros, most: admission.hold_micros };
    };
    /** Grants the least amount and that of some more tokens, once the gateway has given back what it does not use. */
    const grantFitted = (tokens: number) => {
      gateway.billing.decide = (request) =>
        request.kind === 'api_key' && request.micros_least !== undefined
          ? { verdict: 'granted', micros: request.micros_least + outputPrice(tokens) }
          : { verdict: 'insufficient_balance', available_micros: 1 };
    };
    const long = `[[echo]] ${'word '.repeat(1_000)}`;
    afterEach(() => {
      gateway.billing.decide = () => ({ verdict: 'admitted' });
    });

    test('gets as many tokens as the rest pays for: chat, completions and responses, also streamed', async () => {
      grantFitted(44);
      const chat = await client.chat.completions.create({ model: 'svc-chat', messages: messages(long) });
      const { least: holdMin, most } = least();
      expect(most - holdMin).toBe(outputPrice(4_096 - 256));
      expect([chat.usage?.completion_tokens, chat.choices[0]?.finish_reason]).toEqual([300, 'length']);
      const stream = await client.chat.completions.create({
        model: 'svc-chat',
        stream: true,
        stream_options: { include_usage: true },
        messages: messages(long),
      });
      const usages: (number | undefined)[] = [];
      for await (const { usage } of stream) if (usage) usages.push(usage.completion_tokens);
      const completion = await client.completions.create({ model: 'svc-completion', prompt: long });
      const response = await client.responses.create({ model: 'svc-chat', input: long });
      expect([...usages, completion.usage?.completion_tokens, response.usage?.output_tokens]).toEqual([300, 300, 300]);
      expect(response.status).toBe('incomplete');
    });

    test('divides the tokens among the answers of a request', async () => {
      grantFitted(3 * 44);
      const answer = await client.chat.completions.create({ model: 'svc-chat', n: 3, messages: messages(long) });
      expect([300, 900]).toContain(answer.usage?.completion_tokens);
      expect(answer.choices[0]?.finish_reason).toBe('length');
    });

    test('is refused with amounts, and an output limit that would fit, which its message names', async () => {
      type Verdict = 'insufficient_balance' | 'key_monthly_limit_exceeded' | 'member_monthly_limit_exceeded';
      const refuse = (verdict: Verdict, spare: number) => {
        gateway.billing.decide = (request) => ({
          verdict,
          available_micros: request.kind === 'api_key' ? (request.micros_least ?? request.hold_micros) + spare : 0,
        });
      };
      refuse('insufficient_balance', -1);
      const ask = (more: object = {}) =>
        client.chat.completions.create({ model: 'svc-chat', messages: messages('Hi'), ...more });
      const unlimited: unknown = await ask().catch((error: unknown) => error);
      const { least: needed } = least();
      expect(unlimited).toMatchObject({
        status: 402,
        code: 'insufficient_balance',
        type: 'insufficient_quota',
        error: { available_micros: needed - 1, needed_micros: needed, affordable_output_tokens: 0 },
      });
      expect(String(unlimited)).toContain(`needs ${needed} micros, and ${needed - 1} are left.`);
      for (const code of ['key_monthly_limit_exceeded', 'member_monthly_limit_exceeded'] as const) {
        refuse(code, -outputPrice(1_000));
        const limited: unknown = await ask({ max_tokens: 3_000 }).catch((error: unknown) => error);
        expect(limited).toMatchObject({
          code,
          type: 'insufficient_quota',
          error: { needed_micros: least().most, affordable_output_tokens: 2_000 },
        });
        expect(String(limited)).toContain('An output limit of 2000 tokens would fit.');
      }
      gateway.billing.decide = () => ({ verdict: 'admitted' });
      await expect(ask({ max_tokens: 2_000 })).resolves.toBeDefined();
      gateway.billing.standing = () => ({ verdict: 'member_monthly_limit_exceeded', available_micros: 0 });
      const unread: unknown = await ask({ user: 'x'.repeat(20_000) }).catch((error: unknown) => error);
      gateway.billing.standing = () => ({ verdict: 'admitted' });
      expect(unread).toMatchObject({
        code: 'member_monthly_limit_exceeded',
        error: { available_micros: 0, needed_micros: null, affordable_output_tokens: 0 },
      });
    });
  });

  test('throws its own error classes', async () => {
    const ask = (content: string, model = 'svc-chat') =>
      client.chat.completions.create({ model, messages: messages(content) });
    await expect(ask('x', 'unknown')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(ask('[[status=400]]')).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    gateway.billing.decide = () => ({
      verdict: 'rate_limit_exceeded',
      rate_limit: { limit: 1, remaining: 0, reset_ms: 10 },
    });
    await expect(ask('x')).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    const stranger = new OpenAI({ apiKey: 'svc_sk_wrong', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });
});
