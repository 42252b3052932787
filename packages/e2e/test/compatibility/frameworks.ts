import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Instructor from '@instructor-ai/instructor';
import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { createTool } from '@mastra/core/tools';
import type OpenAI from 'openai';
import OpenAIv4 from 'openai-v4';
import { describe, expect, inject } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { inferenceTable, versioned } from './support/results.ts';

const { supports, needs } = inferenceTable;
const QUESTION = 'Where does the sun rise?';

/** Tests Mastra with the model configuration that it documents for compatible servers: name, address and key. */
export const mastra = (): void => {
  describe('Mastra', () => {
    const name = versioned('@mastra/core');
    const agent = (options: { model?: string; tools?: Record<string, ReturnType<typeof weatherTool>> } = {}) =>
      new Agent({
        id: 'guide',
        name: 'Guide',
        instructions: 'Answer briefly.',
        model: { id: `svc/${options.model ?? 'svc-chat'}`, url: inject('baseUrl'), apiKey: inject('apiKey') },
        tools: options.tools ?? {},
      });

    supports(name, 'Chat', async () => {
      const { text, usage } = await agent().generate(QUESTION);
      expect(text).toMatch(/\w/);
      expect(usage.totalTokens).toBeGreaterThan(0);
    });
    supports(name, 'Streaming', async () => {
      // Configured by address, Mastra does not request the usage of a stream.
      const output = await agent().stream(QUESTION);
      let text = '';
      for await (const piece of output.textStream) text += piece;
      expect(text).toMatch(/\w/);
    });
    const withProvider = `${name} with ${versioned('@ai-sdk/openai-compatible')}`;
    needs(withProvider, '`includeUsage: true`, for the usage of streams');
    supports(withProvider, 'Streaming', async () => {
      const provider = createOpenAICompatible({
        name: 'svc',
        baseURL: inject('baseUrl'),
        apiKey: inject('apiKey'),
        includeUsage: true,
      });
      // Mastra's type describes the model after it has wrapped it.
      const model = provider('svc-chat') as unknown as MastraModelConfig;
      const guide = new Agent({ id: 'guide', name: 'Guide', instructions: 'Be brief.', model });
      const output = await guide.stream(QUESTION);
      expect(await output.text).toMatch(/\w/);
      expect((await output.usage).outputTokens).toBeGreaterThan(0);
    });
    supports(name, 'Tools', async () => {
      const places: string[] = [];
      await agent({ tools: { weather: weatherTool(places) } }).generate('What is the weather? [[tool_call]]', {
        maxSteps: 1,
      });
      expect(places).toHaveLength(1);
    });
    supports(name, 'Structured', async () => {
      const schema = z.object({ city: z.string() });
      const { object } = await agent().generate('{"city":"Como"} [[echo]]', { structuredOutput: { schema } });
      expect(object).toEqual({ city: 'Como' });
    });
    supports(name, 'Errors', async () => {
      await expect(agent({ model: 'unknown-model' }).generate(QUESTION)).rejects.toThrow('There is no such model.');
    });
  });
};

const weatherTool = (places: string[]) =>
  createTool({
    id: 'weather',
    description: 'The weather of a place',
    inputSchema: z.object({ input: z.string() }),
    execute: async ({ input }) => {
      places.push(input);
      return { weather: 'sunny' };
    },
  });

/** Tests Instructor on the OpenAI SDK that it was made for, with schemas of zod 3, the only ones that it reads. */
export const instructor = (): void => {
  describe('Instructor', () => {
    const name = `${versioned('@instructor-ai/instructor')} with ${versioned('openai-v4')}`;
    needs(name, 'schemas of zod 3, which zod 4 brings along as `zod/v3`');
    const openai = new OpenAIv4({ baseURL: inject('baseUrl'), apiKey: inject('apiKey'), maxRetries: 0 });
    const schema = z3.object({ input: z3.string() });
    const client = Instructor({ client: openai as unknown as OpenAI, mode: 'TOOLS' });
    const request = (model: string) => ({
      model,
      max_retries: 0,
      messages: [{ role: 'user' as const, content: 'What is the weather? [[tool_call]]' }],
      response_model: { schema, name: 'Weather' },
    });

    supports(name, 'Structured', async () => {
      expect(await client.chat.completions.create(request('svc-chat'))).toMatchObject({
        input: 'What is the weather?',
      });
    });
    supports(name, 'Streaming', async () => {
      const pieces = await client.chat.completions.create({ ...request('svc-chat'), stream: true });
      let last: unknown;
      for await (const piece of pieces) last = piece;
      expect(last).toMatchObject({ input: 'What is the weather?' });
    });
    supports(name, 'Errors', async () => {
      await expect(client.chat.completions.create(request('unknown-model'))).rejects.toThrow('There is no such model.');
    });
  });
};
