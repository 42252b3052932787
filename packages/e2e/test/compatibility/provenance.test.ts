import { readFileSync } from 'node:fs';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type PublicKeySet, verifyProvenance } from '@svc/partner-sdk';
import { CHROMIUM_ARGS } from '@svc/testing';
import OpenAI from 'openai';
import { chromium } from 'playwright-core';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { verifyAiSdkMessage } from './provenance/ai-sdk.ts';
import { verifyOpenaiMessage } from './provenance/openai.ts';
import { chromiumPath } from './support/page.ts';
import { readExample } from './support/read-example.ts';

const issuer = inject('origin');
const access = { baseURL: inject('baseUrl'), apiKey: inject('apiKey') };
const client = new OpenAI({ ...access, defaultHeaders: { 'x-svc-provenance': '1' } });
const messages = [{ role: 'user' as const, content: 'Where does the sun rise?' }];
const SOURCE = { iss: issuer, generated_by: 'ai', provider: 'Sandbox', data_zone: 'EU' };
let keys: PublicKeySet;
beforeAll(async () => {
  keys = (await (await fetch(`${issuer}/v1/provenance/jwks`)).json()) as PublicKeySet;
});
const proofIn = (answer: object): string => (answer as { extensions: { provenance: string } }).extensions.provenance;

describe('the openai package', () => {
  test('assembles a stream into a message that its proof proves, and no other', async () => {
    const { completion, proof, claims } = await verifyOpenaiMessage(client, issuer, keys);
    expect(claims).toMatchObject(SOURCE);
    const [choice] = completion.choices;
    await expect(verifyProvenance(choice?.message, proof, { issuer, keys })).resolves.toEqual(claims);
    const other = { ...choice?.message, content: `${choice?.message.content} ` };
    await expect(verifyProvenance(other, proof, { issuer, keys })).rejects.toMatchObject({ fault: 'wrong_content' });
  });

  test('parses JSON answers and responses that their proofs prove, also after printing', async () => {
    const completion = await client.chat.completions.create({ model: 'svc-chat', messages });
    const response = await client.responses.create({ model: 'svc-chat', input: 'And set?' });
    for (const answer of [completion, response]) {
      const printed: object = JSON.parse(JSON.stringify(answer, undefined, 2));
      expect(await verifyProvenance(printed, proofIn(printed), { issuer, keys })).toMatchObject(SOURCE);
    }
  });

  test('assembles tool calls and streamed responses that their proofs prove', async () => {
    const stream = client.chat.completions.stream({
      model: 'svc-chat',
      messages: [{ role: 'user', content: 'What is the weather? [[tool_call]]' }],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }],
    });
    const called = await stream.finalChatCompletion();
    expect(called.choices[0]?.message.tool_calls).toHaveLength(1);
    const response = await client.responses.stream({ model: 'svc-chat', input: 'And set?' }).finalResponse();
    for (const answer of [called, response]) {
      expect(await verifyProvenance(answer, proofIn(answer), { issuer, keys })).toMatchObject(SOURCE);
    }
  });
});

describe('the Vercel AI SDK', () => {
  test.each([
    ['@ai-sdk/openai-compatible', createOpenAICompatible({ name: 'svc', ...access })('svc-chat')],
    ['@ai-sdk/openai', createOpenAI(access).chat('svc-chat')],
  ])('with %s returns a text that its proof proves', async (_name, model) => {
    const { claims } = await verifyAiSdkMessage(model, issuer, keys);
    expect(claims).toMatchObject(SOURCE);
  });
});

test.each(['provenance.md', 'it/provenance.md'])('guides/%s shows these examples', (file) => {
  const guide = readFileSync(new URL(`../../../../docs/guides/${file}`, import.meta.url), 'utf8');
  for (const source of ['openai', 'ai-sdk']) expect(guide).toContain(readExample(`provenance/${source}`));
});

test.runIf(chromiumPath !== undefined)(
  'the page of the documentation checks a pasted message without a connection',
  async () => {
    const completion = await client.chat.completions.create({ model: 'svc-chat', messages });
    const [choice] = completion.choices;
    const browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: CHROMIUM_ARGS });
    onTestFinished(() => browser.close());
    for (const [path, message, check, genuine, changed] of [
      ['/docs/provenance', 'Message', 'Check', 'This is what the service sent.', 'not of this message'],
      ['/docs/it/provenance', 'Messaggio', 'Verifica', 'È ciò che il servizio ha mandato.', 'non di questo messaggio'],
    ] as const) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${issuer}${path}`);
      const pasted = page.getByRole('textbox', { name: new RegExp(`^${message}`) });
      await pasted.waitFor();
      await context.setOffline(true);
      const status = page.locator('[data-widget] [role=status]');
      const paste = async (text: object, proof = '') => {
        await pasted.fill(JSON.stringify(text, null, 2));
        await page.locator('#check-provenance-proof').fill(proof);
        await page.getByRole('button', { name: check, exact: true }).click();
      };
      await paste(completion);
      await expect.poll(() => status.textContent()).toBe(genuine);
      expect(await page.locator('[data-widget] pre').textContent()).toContain('"generated_by": "ai"');
      await paste({ ...choice?.message, content: 'Something else' }, proofIn(completion));
      await expect.poll(() => status.textContent()).toContain(changed);
    }
  },
);
