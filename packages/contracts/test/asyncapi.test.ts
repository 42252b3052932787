import { readFile } from 'node:fs/promises';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { accountEventNames, accountEventSchema, webhookEventNames, webhookEventSchema } from '../src/index.ts';
import { asyncapiDocument } from '../src/openapi/index.ts';

const lint = async (document: object): Promise<string[]> => {
  const spectral = new spectralCore.Spectral();
  // The package ships this ruleset as an object that its own type describes too loosely.
  spectral.setRuleset({
    extends: spectralRulesets.asyncapi as RulesetDefinition,
    // Receivers choose the servers, operators the contact, and readers know 3.0 better than its successor.
    rules: { 'asyncapi-servers': 'off', 'asyncapi-info-contact-properties': 'off', 'asyncapi-latest-version': 'off' },
  });
  const problems = await spectral.run(JSON.stringify(document));
  return problems.map(({ code, path }) => `${code} ${path.join('/')}`);
};

const documentSchema = z.object({
  asyncapi: z.literal('3.0.0'),
  channels: z.record(z.string(), z.object({ messages: z.record(z.string(), z.unknown()) })),
  components: z.object({
    messages: z.record(z.string(), z.object({ examples: z.tuple([z.object({ payload: z.unknown() })]) })),
  }),
});

describe('the AsyncAPI document', () => {
  test('conforms to the schema of AsyncAPI 3.0, which finds a fault', async () => {
    expect(await lint(asyncapiDocument())).toEqual([]);
    const faulty = { ...asyncapiDocument(), operations: { 'send-app-events': { action: 'publish' } } };
    expect((await lint(faulty)).join()).toContain('asyncapi-3-document-resolved');
  });

  test('lists the events of apps and of accounts, each with an example that the service could send', () => {
    const { channels, components } = documentSchema.parse(asyncapiDocument());
    expect(Object.keys(channels['app']?.messages ?? {})).toEqual(webhookEventNames);
    expect(Object.keys(channels['account']?.messages ?? {})).toEqual(accountEventNames);
    for (const [name, { examples }] of Object.entries(components.messages)) {
      const schema = accountEventNames.some((known) => known === name) ? accountEventSchema : webhookEventSchema;
      expect(schema.parse(examples[0].payload)).toEqual(examples[0].payload);
    }
  });

  test('matches the committed file', async () => {
    const committed = await readFile(new URL('../generated/asyncapi.json', import.meta.url), 'utf8');
    expect(JSON.parse(committed)).toEqual(asyncapiDocument());
  });
});
