import type OpenAI from 'openai';
import { expect, inject } from 'vitest';
import { inferenceTable, versioned } from './support/results.ts';

const { supports } = inferenceTable;

const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
} as const;

const messages = [{ role: 'user' as const, content: 'Where does the sun rise?' }];

/** Tests one major version of the OpenAI SDK. Its constructor stays compatible with the newest version's types. */
export const openaiSdk = (alias: string, Client: typeof OpenAI): void => {
  const name = versioned(alias);
  const client = new Client({ baseURL: inject('baseUrl'), apiKey: inject('apiKey') });

  supports(name, 'Chat', async () => {
    const completion = await client.chat.completions.create({ model: 'svc-chat', messages });
    expect(completion.choices[0]?.message.content).toMatch(/\w/);
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  });

  supports(name, 'Streaming', async () => {
    const stream = await client.chat.completions.create({
      model: 'svc-chat',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let tokens = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      tokens = chunk.usage?.total_tokens ?? tokens;
    }
    expect(text).toMatch(/\w/);
    expect(tokens).toBeGreaterThan(0);
  });

  supports(name, 'Responses', async () => {
    const response = await client.responses.create({ model: 'svc-chat', input: 'Where does the sun rise?' });
    expect(response.output_text).toMatch(/\w/);
    const types: string[] = [];
    const stream = await client.responses.create({ model: 'svc-chat', input: 'And set?', stream: true });
    for await (const event of stream) types.push(event.type);
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
  });

  supports(name, 'Tools', async () => {
    const completion = await client.chat.completions.create({
      model: 'svc-chat',
      messages: [{ role: 'user', content: 'What is the weather? [[tool_call]]' }],
      tools: [WEATHER],
    });
    const [call] = completion.choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } });
  });

  supports(name, 'Structured', async () => {
    const completion = await client.chat.completions.create({
      model: 'svc-chat',
      messages: [{ role: 'user', content: '{"city":"Como"} [[echo]]' }],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', strict: true, schema: WEATHER.function.parameters },
      },
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ city: 'Como' });
  });

  supports(name, 'Embeddings', async () => {
    const { data } = await client.embeddings.create({ model: 'svc-embedding', input: ['one', 'two'] });
    expect(data.map(({ embedding }) => embedding.length > 1)).toEqual([true, true]);
  });

  supports(name, 'Errors', async () => {
    const refused = client.chat.completions.create({ model: 'unknown-model', messages });
    await expect(refused).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    const lost = client.images.generate({ model: 'svc-chat', prompt: 'A lake' });
    await expect(lost).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });
};
