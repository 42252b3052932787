import { createSvc, createSvcV2 } from '@svc/partner-sdk/ai-sdk';
import * as ai7 from 'ai';
import * as ai5 from 'ai-v5';
import * as ai6 from 'ai-v6';
import { expect, inject } from 'vitest';
import { z } from 'zod';
import { oauth4webapi } from './oauth/oauth4webapi.ts';
import { registerApp } from './oauth/stock-client.ts';
import { visitAnd } from './support/browser.ts';
import { delegatedTable, versioned } from './support/results.ts';

const { supports, needs } = delegatedTable;
const QUESTION = 'Where does the sun rise?';

/** Connects the customer once, when the first test wants a token. */
const connectOnce = (): (() => Promise<string>) => {
  let connected: Promise<string> | undefined;
  const connect = async (): Promise<string> => {
    const client = await oauth4webapi.create(await registerApp({ ...oauth4webapi, name: 'AI SDK' }));
    return (await client.connect(visitAnd('approve'))).accessToken;
  };
  return () => {
    connected ??= connect();
    return connected;
  };
};

/** Tests the provider of the partner SDK with each version of `ai`, on a connected user's subscription. */
export const aiSdkProvider = (): void => {
  const options = { baseUrl: inject('origin'), accessToken: connectOnce() };
  const tool = { description: 'The weather of a place', inputSchema: z.object({ input: z.string() }) };
  const execute = async () => 'sunny';
  const prompt = '{"city":"Como"} [[echo]]';
  const schema = z.object({ city: z.string() });
  const svc = createSvc(options);
  const svcV2 = createSvcV2(options);

  testVersion(versioned('ai-v5'), '`createSvcV2`', {
    generate: () => ai5.generateText({ model: svcV2(), prompt: QUESTION }),
    stream: () => ai5.streamText({ model: svcV2(), prompt: QUESTION }),
    callTool: () =>
      ai5.generateText({ model: svcV2(), prompt: TOOL_QUESTION, tools: { weather: ai5.tool({ ...tool, execute }) } }),
    generateObject: async () => (await ai5.generateObject({ model: svcV2(), prompt, schema })).object,
    refuse: () => ai5.generateText({ model: createSvcV2(strangers)(), prompt: QUESTION, maxRetries: 0 }),
  });
  testVersion(versioned('ai-v6'), 'none', {
    generate: () => ai6.generateText({ model: svc(), prompt: QUESTION }),
    stream: () => ai6.streamText({ model: svc(), prompt: QUESTION }),
    callTool: () =>
      ai6.generateText({ model: svc(), prompt: TOOL_QUESTION, tools: { weather: ai6.tool({ ...tool, execute }) } }),
    generateObject: async () =>
      (await ai6.generateText({ model: svc(), prompt, output: ai6.Output.object({ schema }) })).output,
    refuse: () => ai6.generateText({ model: createSvc(strangers)(), prompt: QUESTION, maxRetries: 0 }),
  });
  testVersion(versioned('ai'), 'none', {
    generate: () => ai7.generateText({ model: svc(), prompt: QUESTION }),
    stream: () => ai7.streamText({ model: svc(), prompt: QUESTION }),
    callTool: () =>
      ai7.generateText({ model: svc(), prompt: TOOL_QUESTION, tools: { weather: ai7.tool({ ...tool, execute }) } }),
    generateObject: async () =>
      (await ai7.generateText({ model: svc(), prompt, output: ai7.Output.object({ schema }) })).output,
    refuse: () => ai7.generateText({ model: createSvc(strangers)(), prompt: QUESTION, maxRetries: 0 }),
  });
};

const TOOL_QUESTION = 'What is the weather? [[tool_call]]';
const strangers = { baseUrl: inject('origin'), accessToken: 'not a token' };

interface Usage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

interface Calls {
  readonly generate: () => Promise<{ readonly text: string; readonly usage: Usage; readonly warnings?: unknown }>;
  readonly stream: () => { readonly text: PromiseLike<string>; readonly usage: PromiseLike<Usage> };
  readonly callTool: () => Promise<{ readonly toolResults: readonly { readonly output: unknown }[] }>;
  readonly generateObject: () => Promise<unknown>;
  readonly refuse: () => Promise<unknown>;
}

const testVersion = (name: string, settings: string, calls: Calls): void => {
  needs(name, settings);
  supports(name, 'Chat', async () => {
    const { text, usage, warnings } = await calls.generate();
    expect(text).toMatch(/\w/);
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(warnings ?? []).toEqual([]);
  });
  supports(name, 'Streaming', async () => {
    const result = calls.stream();
    expect(await result.text).toMatch(/\w/);
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });
  supports(name, 'Tools', async () => {
    const { toolResults } = await calls.callTool();
    expect(toolResults.map(({ output }) => output)).toEqual(['sunny']);
  });
  supports(name, 'Structured', async () => {
    expect(await calls.generateObject()).toEqual({ city: 'Como' });
  });
  supports(name, 'Errors', async () => {
    await expect(calls.refuse()).rejects.toMatchObject({ code: 'invalid_token' });
  });
};
