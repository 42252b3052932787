import { fileURLToPath } from 'node:url';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { tool as aiTool, embed, generateText, Output, stepCountIs, streamText } from 'ai';
import OpenAI from 'openai';
import OpenAIv4 from 'openai-v4';
import OpenAIv5 from 'openai-v5';
import OpenAIv6 from 'openai-v6';
import { describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { aiSdkProvider } from './ai-sdk-provider.ts';
import { instructor, mastra } from './frameworks.ts';
import { oauthClients, oauthExamples } from './oauth-clients.ts';
import { openaiSdk } from './openai.ts';
import { chromiumPath } from './support/page.ts';
import { delegatedTable, inferenceTable, oauthTable, versioned, webhookTable } from './support/results.ts';
import { webhookLibraries } from './webhook-libraries.ts';

const baseURL = inject('baseUrl');
const apiKey = inject('apiKey');
const { supports, needs } = inferenceTable;
const QUESTION = 'Where does the sun rise?';
const TOOL_QUESTION = 'What is the weather? [[tool_call]]';
const PLACE = z.object({ city: z.string() });
// The sandbox provider repeats the prompt.
const PLACE_QUESTION = '{"city":"Como"} [[echo]]';
// The sandbox provider calls a tool with `input`.
const WEATHER = { description: 'The weather of a place', schema: z.object({ input: z.string() }) };

describe('OpenAI SDK', () => {
  openaiSdk('openai', OpenAI);
  // Older versions have the same methods under other types.
  openaiSdk('openai-v6', OpenAIv6 as unknown as typeof OpenAI);
  openaiSdk('openai-v5', OpenAIv5 as unknown as typeof OpenAI);
  openaiSdk('openai-v4', OpenAIv4 as unknown as typeof OpenAI);
});

describe('Vercel AI SDK', () => {
  const name = `${versioned('ai')} with ${versioned('@ai-sdk/openai')}`;
  const openai = createOpenAI({ baseURL, apiKey });

  supports(name, 'Chat', async () => {
    const { text, usage } = await generateText({ model: openai.chat('svc-chat'), prompt: QUESTION });
    expect(text).toMatch(/\w/);
    expect(usage.inputTokens).toBeGreaterThan(0);
  });
  supports(name, 'Responses', async () => {
    const { text } = await generateText({ model: openai('svc-chat'), prompt: QUESTION });
    expect(text).toMatch(/\w/);
  });
  supports(name, 'Streaming', async () => {
    const result = streamText({ model: openai('svc-chat'), prompt: QUESTION });
    expect(await result.text).toMatch(/\w/);
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });
  supports(name, 'Tools', async () => {
    const { toolResults } = await generateText({
      model: openai('svc-chat'),
      prompt: TOOL_QUESTION,
      stopWhen: stepCountIs(1),
      tools: {
        weather: aiTool({
          description: WEATHER.description,
          inputSchema: WEATHER.schema,
          execute: async () => 'sunny',
        }),
      },
    });
    expect(toolResults.map(({ output }) => output)).toEqual(['sunny']);
  });
  supports(name, 'Structured', async () => {
    const output = Output.object({ schema: PLACE });
    const result = await generateText({ model: openai('svc-chat'), prompt: PLACE_QUESTION, output });
    expect(result.output).toEqual({ city: 'Como' });
  });
  supports(name, 'Embeddings', async () => {
    const { embedding } = await embed({ model: openai.embedding('svc-embedding'), value: 'one' });
    expect(embedding.length).toBeGreaterThan(1);
  });
  supports(name, 'Errors', async () => {
    const refused = generateText({ model: openai('unknown-model'), prompt: QUESTION, maxRetries: 0 });
    await expect(refused).rejects.toThrow('There is no such model.');
  });

  const compatible = createOpenAICompatible({ name: 'svc', baseURL, apiKey, includeUsage: true });
  const compatibleName = `${versioned('ai')} with ${versioned('@ai-sdk/openai-compatible')}`;
  needs(compatibleName, '`includeUsage: true`, for the usage of streams');
  supports(compatibleName, 'Chat', async () => {
    const { text } = await generateText({ model: compatible('svc-chat'), prompt: QUESTION });
    expect(text).toMatch(/\w/);
  });
  supports(compatibleName, 'Streaming', async () => {
    const result = streamText({ model: compatible('svc-chat'), prompt: QUESTION });
    expect(await result.text).toMatch(/\w/);
    expect((await result.usage).inputTokens).toBeGreaterThan(0);
  });
});

describe('LangChain', () => {
  const name = versioned('@langchain/openai');
  const chat = (options: object = {}) =>
    new ChatOpenAI({ model: 'svc-chat', apiKey, configuration: { baseURL }, maxRetries: 0, ...options });

  supports(name, 'Chat', async () => {
    const answer = await chat().invoke(QUESTION);
    expect(answer.text).toMatch(/\w/);
    expect(answer).toMatchObject({ usage_metadata: { total_tokens: expect.any(Number) } });
  });
  supports(name, 'Streaming', async () => {
    let text = '';
    for await (const chunk of await chat().stream(QUESTION)) text += chunk.text;
    expect(text).toMatch(/\w/);
  });
  supports(name, 'Responses', async () => {
    expect((await chat({ useResponsesApi: true }).invoke(QUESTION)).text).toMatch(/\w/);
  });
  supports(name, 'Tools', async () => {
    const weather = { name: 'weather', ...WEATHER };
    const answer = await chat().bindTools([weather]).invoke(TOOL_QUESTION);
    expect(answer.tool_calls?.map((each) => each.name)).toEqual(['weather']);
  });
  supports(name, 'Structured', async () => {
    const structured = chat().withStructuredOutput(PLACE, { method: 'jsonSchema' });
    expect(await structured.invoke(PLACE_QUESTION)).toEqual({ city: 'Como' });
  });
  supports(name, 'Embeddings', async () => {
    const embeddings = new OpenAIEmbeddings({ model: 'svc-embedding', apiKey, configuration: { baseURL } });
    expect((await embeddings.embedQuery('one')).length).toBeGreaterThan(1);
  });
  supports(name, 'Errors', async () => {
    await expect(chat({ model: 'unknown-model' }).invoke(QUESTION)).rejects.toThrow('There is no such model.');
  });
});

describe('OpenAI Agents SDK', () => {
  const name = versioned('@openai/agents');
  needs(name, '`setTracingDisabled(true)`, see below');
  setTracingDisabled(true);
  const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey, baseURL }) });
  const agent = new Agent({ name: 'Guide', instructions: 'Answer briefly.', model: 'svc-chat' });

  supports(name, 'Responses', async () => {
    expect((await runner.run(agent, QUESTION)).finalOutput).toMatch(/\w/);
  });
  supports(name, 'Streaming', async () => {
    const result = await runner.run(agent, QUESTION, { stream: true });
    await result.completed;
    expect(result.finalOutput).toMatch(/\w/);
  });
  supports(name, 'Tools', async () => {
    const places: string[] = [];
    const weather = tool({
      name: 'weather',
      description: WEATHER.description,
      parameters: WEATHER.schema,
      execute: async ({ input }) => {
        places.push(input);
        return 'sunny';
      },
    });
    const assistant = agent.clone({ tools: [weather], toolUseBehavior: 'stop_on_first_tool' });
    await runner.run(assistant, TOOL_QUESTION);
    expect(places).toHaveLength(1);
  });
});

mastra();
instructor();

describe('provider for the Vercel AI SDK', aiSdkProvider);

describe('OAuth clients', oauthClients);

describe('webhook libraries', webhookLibraries);

test.runIf(chromiumPath !== undefined)('the published tables hold these results', async () => {
  const file = fileURLToPath(new URL('../../../../docs/clients.md', import.meta.url));
  await expect(`# Clients that work unchanged

Each row is a pinned client, tested with its address and credentials, and with what the last column names. A dash means
that a feature is not tested or that the client does not have it. "Structured" is an answer that follows a JSON schema. The tables are written by
\`packages/e2e/test/compatibility\`.

## Inference

${inferenceTable.toMarkdown()}

The base URL ends in \`/v1\`, as \`https://svc.example/v1\`: clients append \`/chat/completions\` to it, and without
\`/v1\` they get a 404 that says so.

\`@openai/agents\` sends traces of every run to api.openai.com, unless told not to: with \`OPENAI_API_KEY\` in the
environment it sends your key along, and with the chat format your prompts. One line stops it, before the first run:

\`\`\`ts
import { setTracingDisabled } from '@openai/agents';

setTracingDisabled(true); // Or OPENAI_AGENTS_DISABLE_TRACING=1 in the environment.
\`\`\`

A stream stays alive with comments (\`: keep-alive\`) while a model thinks. Every client above ignores them.

A Mastra agent that is configured by address and key does not request the usage of a stream, so it shows none. Give it a
model of \`@ai-sdk/openai-compatible\` to see it.

## Inference for connected users

\`@svc/partner-sdk/ai-sdk\` with each version of the Vercel AI SDK, on a user's subscription.

${delegatedTable.toMarkdown()}

With \`createProviderRegistry({ svc })\` of \`ai\`, any name stands for the model, as the service chooses it:
\`registry.languageModel('svc:chat')\`.

## Connecting users

A user approves on the pages of the service, and the client does the rest by its own code. The token then serves a chat,
is refreshed once and revoked. "Denial" means that the client reports a user who says no. The last column names settings
beyond address, credentials, redirect URI and scope. \`openid-client\` 6 needs none and is tested with the authorization
server itself.

${oauthTable.toMarkdown()}

Examples, cut out of the tested code. \`issuer\` is the base URL; the other names are settings of your app.
[Connect users](guides/connect.md) says how to keep the tokens.

${oauthExamples()}

## Webhooks

Each handler receives a real delivery, and refuses the same body with one byte more. The signing secret goes in as it
is, with its \`whsec_\`.

${webhookTable.toMarkdown()}
`).toMatchFileSnapshot(file);
});
