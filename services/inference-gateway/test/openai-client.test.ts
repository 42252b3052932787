import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startGateway();
  const session = await gateway.tokens.consoleSession({ userId: newId('usr') });
  const created = await fetch(`${gateway.url}/v1/gateway/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Test' }),
  });
  const { key } = JSON.parse(await created.text());
  client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const messages = (content: string) => [{ role: 'user' as const, content }];

describe('the stock openai client, with only base URL and key changed', () => {
  test('chat', async () => {
    const answer = await client.chat.completions.create({ model: 'svc-chat', messages: messages('Hi [[echo]]') });
    expect(answer.choices[0]?.message.content).toBe('Hi');
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('chat as a stream, plain and through the helper', async () => {
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

  test('tools', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: {} } }];
    const answer = await client.chat.completions.create({
      model: 'svc-chat',
      tools,
      messages: messages('[[tool_call]] x'),
    });
    expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: 'look_up' } });
  });

  test('an abort in mid-stream: the provider is read to its end, and the request settled', async () => {
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

  test('legacy completions, embeddings, models', async () => {
    const completion = await client.completions.create({ model: 'svc-completion', prompt: 'Hi' });
    expect(completion.choices[0]?.text.length).toBeGreaterThan(0);
    const embedding = await client.embeddings.create({ model: 'svc-embedding', input: 'Hi' });
    expect(embedding.data[0]?.embedding.length).toBe(256);
    const models: string[] = [];
    for await (const model of client.models.list()) models.push(model.id);
    expect(models).toContain('svc-chat');
  });

  test('one model, as the list shows it', async () => {
    const listed = (await client.models.list()).data.find(({ id }) => id === 'svc-chat');
    expect(await client.models.retrieve('svc-chat')).toEqual(listed);
    const unknown = client.models.retrieve('nobody:v1@eu');
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(unknown).rejects.toMatchObject({ code: 'model_not_found', param: 'model' });
    await expect(client.models.retrieve('x'.repeat(129))).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });

  test('errors are of the classes that it knows', async () => {
    const ask = (content: string, model = 'svc-chat') =>
      client.chat.completions.create({ model, messages: messages(content) });
    await expect(ask('x', 'nobody')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
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
