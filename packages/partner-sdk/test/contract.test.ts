import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as contract from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { WEBHOOK_TOLERANCE_SECONDS } from '../src/generated/contract.ts';
import * as sdk from '../src/index.ts';

/** Fields that the SDK leaves open, so that a later release of the service does not break it. */
const OPEN = new Set(['api_version', 'max_pending_requests']);
const IGNORED = new Set([
  '$schema',
  '$defs',
  'id',
  'title',
  'description',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'minLength',
  'maxLength',
  'maxItems',
  'additionalProperties',
]);

/** Returns fields, types, enumerations and requiredness of a schema, without limits and texts. */
const shapeOf = (schema: z.ZodType): unknown => {
  const whole = z.toJSONSchema(schema, { unrepresentable: 'any' });
  const strip = (node: unknown, name = ''): unknown => {
    if (Array.isArray(node)) return name === 'required' ? [...node].sort() : node.map((each) => strip(each));
    if (typeof node !== 'object' || node === null) return node;
    if (OPEN.has(name)) return 'open';
    if ('$ref' in node && typeof node.$ref === 'string') {
      return strip(whole.$defs?.[node.$ref.replace('#/$defs/', '')], name);
    }
    return Object.fromEntries(
      Object.entries(node)
        .filter(([key]) => !IGNORED.has(key) || name === 'properties')
        .map(([key, value]) => [key, strip(value, key)]),
    );
  };
  return strip(whole);
};

describe('schemas', () => {
  const pairs: [string, z.ZodType, z.ZodType][] = [
    ['token response', sdk.tokenResponseSchema, contract.tokenResponseSchema],
    ['capabilities', sdk.capabilitiesSchema, contract.capabilitiesSchema],
    ['usage', sdk.usageSchema, contract.integrationUsageSchema],
    ['usage of a request', sdk.requestUsageSchema, contract.requestUsageSchema],
    ['error body', sdk.errorBodySchema, contract.errorBodySchema],
    [
      'validation error',
      sdk.validationErrorSchema,
      z.object({ detail: z.array(contract.validationIssueSchema.pick({ loc: true, msg: true, type: true })) }),
    ],
    ['webhook events', sdk.webhookEventSchema, contract.webhookEventSchema],
  ];

  test.each(pairs)('%s matches the contract', (_name, ours, theirs) => {
    expect(shapeOf(ours)).toEqual(shapeOf(theirs));
  });

  test('a chat request has exactly the fields of the contract', () => {
    const request = {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Ciao' }] }],
      stream_options: { include_usage: true },
      temperature: 1,
      top_p: 1,
      max_tokens: 1,
      max_completion_tokens: 1,
      stop: ['x'],
      tools: [{ type: 'function' }],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      response_format: { type: 'text' },
      reasoning_effort: 'low',
      seed: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
    } as const satisfies Required<sdk.ChatRequest>;
    const fields = Object.keys(contract.chatRequestSchema.shape).filter((name) => name !== 'stream');
    expect(Object.keys(request).sort()).toEqual(fields.sort());
    expect(contract.chatRequestSchema.parse(request)).toEqual({ ...request, stream: false });
  });

  test('a transcription request has exactly the fields of the contract', () => {
    const request = {
      file: new Blob(['x']),
      filename: 'x.wav',
      language: 'it',
      prompt: 'x',
      temperature: 0,
      response_format: 'json',
    } as const satisfies Required<sdk.TranscriptionRequest>;
    const { filename, ...form } = request;
    expect(Object.keys(form).sort()).toEqual(Object.keys(contract.transcriptionFormSchema.shape).sort());
    expect(contract.transcriptionFormSchema.parse({ ...form, file: filename })).toBeDefined();
  });

  test('minimal answers of the contract are accepted', () => {
    const choice = { index: 0, message: { role: 'assistant', content: null }, finish_reason: null };
    const least = { id: 'x', object: 'chat.completion', created: 1, model: contract.PUBLIC_MODEL, choices: [choice] };
    expect(sdk.chatCompletionSchema.parse(contract.chatCompletionSchema.parse(least))).toEqual(least);
    expect(sdk.transcriptionSchema.parse(contract.transcriptionSchema.parse({ text: '' }))).toEqual({ text: '' });
  });
});

describe('webhooks', () => {
  test('names, header and tolerance match the contract', () => {
    expect(sdk.webhookEventNames).toEqual(contract.webhookEventNames);
    expect(sdk.WEBHOOK_SIGNATURE_HEADER).toBe(contract.WEBHOOK_SIGNATURE_HEADER);
    expect(WEBHOOK_TOLERANCE_SECONDS).toBe(contract.WEBHOOK_TOLERANCE_SECONDS);
  });

  const directory = new URL('samples/webhooks/', new URL('../../contracts/', import.meta.url));
  test.each(readdirSync(directory))('the released message %s is read completely', (name) => {
    const sample: unknown = JSON.parse(readFileSync(new URL(name, directory), 'utf8'));
    expect(sdk.webhookEventSchema.parse(sample)).toEqual(sample);
    expect(sdk.webhookEventSchema.parse(sample)).toEqual(contract.webhookEventSchema.parse(sample));
  });
});

describe('endpoints', () => {
  const { routes } = contract;
  const used = [
    [routes.getCapabilities, sdk.paths.capabilities],
    [routes.createDelegatedChatCompletion, sdk.paths.chat],
    [routes.createDelegatedTranscription, sdk.paths.transcriptions],
    [routes.getIntegrationUsage, sdk.paths.usage],
    [routes.getRequestUsage, sdk.paths.requestUsage('{request_id}')],
    [routes.getRequestReceipt, sdk.paths.requestReceipt('{request_id}')],
  ] as const;

  test.each(used)('calls the path of $operationId', (route, path) => {
    expect(decodeURIComponent(path)).toBe(route.path);
  });

  test('knows every code that the called routes answer, with its status', () => {
    const everywhere = Object.entries(contract.errorCodes)
      .filter(([code, { owner }]) => owner === 'any' && code !== 'business_account_required')
      .map(([code]) => code);
    const answered = new Set<string>([...everywhere, ...used.flatMap(([route]) => [...route.errors])]);
    expect(Object.keys(sdk.serviceErrorCodes).sort()).toEqual([...answered].sort());
    for (const [code, { status }] of Object.entries(sdk.serviceErrorCodes)) {
      expect(z.enum(Object.keys(contract.errorCodes)).parse(code)).toBe(code);
      expect([code, status]).toEqual([code, statusOf(code)]);
    }
  });

  test('calls only routes that the default scopes cover', () => {
    const scopes = contract.DEFAULT_SCOPE.split(' ');
    for (const [route] of used) expect(scopes).toEqual(expect.arrayContaining([...route.scopes]));
  });
});

const statusOf = (code: string): number | undefined =>
  Object.entries(contract.errorCodes).find(([name]) => name === code)?.[1].status;

describe('the package', () => {
  test('imports only its published dependencies at run time', () => {
    const manifest = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(createRequire(import.meta.url)('../package.json'));
    expect(Object.keys(manifest.dependencies)).toEqual(['openid-client', 'zod']);
    const source = new URL('../src/', import.meta.url);
    for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
      const imports = readFileSync(new URL(name, source), 'utf8').matchAll(/from '([^']+)'/g);
      for (const [, from] of imports) {
        expect(from, name).toMatch(/^(\.\.?\/[\w./-]+\.ts|node:(crypto|timers\/promises)|openid-client|zod)$/);
      }
    }
  });
});
