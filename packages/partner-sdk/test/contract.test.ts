import { readdirSync, readFileSync } from 'node:fs';
import * as contract from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as generated from '../src/generated/contract.ts';
import * as webhooks from '../src/generated/webhooks.ts';
import * as sdk from '../src/index.ts';
import { chatCompletionShape } from '../src/inference/chat.ts';
import { transcriptionShape } from '../src/inference/svc-client.ts';
import * as server from '../src/server.ts';
import { accepts, type Shape } from '../src/shape.ts';
import { eventsPageShape } from '../src/webhooks/catch-up.ts';

/** Values that no field of the contract accepts together with every other type. */
const WRONG = [undefined, null, 'x', -1, 1.5, true, [], {}];

/** Yields copies of a value with one part, at any depth, replaced by a wrong one. */
function* spoil(value: unknown): Generator<unknown> {
  yield* WRONG;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    for (const wrong of spoil(part)) {
      yield Array.isArray(value) ? value.with(Number(name), wrong) : { ...value, [name]: wrong };
    }
  }
}

const OPEN = new Set<unknown>(['api_version', 'max_pending_requests']);

/** Fields and texts that the SDK leaves open, so that a later release of the service does not break it. */
const isLeftOpen = (theirs: z.ZodType, value: unknown): boolean => {
  const issues = theirs.safeParse(value).error?.issues ?? [];
  return issues.every(
    ({ code, path }) => code === 'invalid_format' || code === 'unrecognized_keys' || OPEN.has(path.at(-1)),
  );
};

const subscription = {
  status: 'active',
  plan: { id: 'plus', name: 'Plus' },
  period: { start: '2026-10-01T00:00:00.000Z', end: '2026-11-01T00:00:00.000Z' },
};
const window = { used_percent: 1, used_micros: 1, limit_micros: 100, resets_at: '2026-10-08T00:00:00.000Z' };
const services = { chat: true, audio_transcription: false };
const app = { paused: false, used_micros: 1, held_micros: 0, limit_micros: 5, period: 'week' };

describe('shapes', () => {
  const samples: [string, Shape<unknown>, z.ZodType, unknown][] = [
    ['capabilities', generated.capabilitiesShape, contract.capabilitiesSchema, { object: 'capabilities', services }],
    [
      'usage',
      generated.usageShape,
      contract.integrationUsageSchema,
      {
        ...subscription,
        weekly: window,
        monthly: null,
        pending_requests: 0,
        max_pending_requests: contract.PENDING_REQUESTS_MAX,
        services,
        extra: { enabled: false, used_micros: 0, limit_micros: 0 },
        app: { ...app, resets_at: null, expires_at: null },
      },
    ],
    [
      'usage of a request',
      generated.requestUsageShape,
      contract.requestUsageSchema,
      {
        request_id: `req_${'0'.repeat(26)}`,
        state: 'settled',
        cost_micros: 5,
        paid_by: 'plan',
        created_at: '2026-10-01T00:00:00.000Z',
        settled_at: null,
      },
    ],
  ];

  test.each(samples)('%s: accepts exactly what the contract accepts', (_name, ours, theirs, sample) => {
    expect(theirs.parse(sample)).toEqual(sample);
    expect(ours(sample)).toEqual(sample);
    for (const spoilt of spoil(sample)) {
      if (isLeftOpen(theirs, spoilt)) continue;
      expect(accepts(ours, spoilt), JSON.stringify(spoilt)).toBe(false);
    }
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
    expect(chatCompletionShape(contract.chatCompletionSchema.parse(least))).toEqual(least);
    expect(transcriptionShape(contract.transcriptionSchema.parse({ text: '' }))).toEqual({ text: '' });
  });
});

describe('webhooks', () => {
  test('names, headers and tolerance match the contract', () => {
    expect(server.webhookEventNames).toEqual(contract.webhookEventNames);
    expect(server.accountWebhookEventNames).toEqual(contract.accountEventNames);
    expect(server.WEBHOOK_SIGNATURE_HEADER).toBe(contract.WEBHOOK_SIGNATURE_HEADER);
    expect(server.STANDARD_WEBHOOK_HEADERS).toEqual(contract.STANDARD_WEBHOOK_HEADERS);
    expect(webhooks.WEBHOOK_TOLERANCE_SECONDS).toBe(contract.WEBHOOK_TOLERANCE_SECONDS);
  });

  test('reads a page of missed events as the contract defines it', () => {
    expect(webhooks.WEBHOOK_EVENTS_PATH).toBe(contract.routes.listOwnWebhookEvents.path);
    const event = {
      event_id: `evt_${'0'.repeat(26)}`,
      event: 'integration.test',
      sequence: 1,
      generation: 1,
      created: 1,
      status: 'skipped',
      payload: '{}',
    };
    const page = contract.pageOf(contract.ownWebhookEventSchema).parse({ data: [event], has_more: false });
    expect(eventsPageShape(page)).toEqual(page);
  });

  const directory = new URL('samples/webhooks/', new URL('../../contracts/', import.meta.url));
  test.each(readdirSync(directory))('the released message %s is read, and nothing less', (name) => {
    const sample: unknown = JSON.parse(readFileSync(new URL(name, directory), 'utf8'));
    const isOfAccount = contract.accountEventNames.some((known) => `${known}.json` === name);
    const shape: Shape<unknown> = isOfAccount ? webhooks.accountWebhookEventShape : webhooks.webhookEventShape;
    const schema: z.ZodType = isOfAccount ? contract.accountEventSchema : contract.webhookEventSchema;
    expect(shape(sample, 'event')).toEqual(schema.parse(sample));
    expect(server.readWebhookEnvelope(sample)).toEqual(isOfAccount ? undefined : sample);
    for (const spoilt of spoil(sample)) {
      if (isLeftOpen(schema, spoilt)) continue;
      expect(accepts(shape, spoilt), JSON.stringify(spoilt)).toBe(false);
    }
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

  test('knows every code of the called routes, with its status', () => {
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
