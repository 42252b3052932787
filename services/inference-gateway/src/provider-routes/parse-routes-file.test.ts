import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseRoutesFile, providerKeysFrom, RoutesFileError } from './parse-routes-file.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const good = `
providers:
  sandbox: {base_url: "http://127.0.0.1:9100/v1/", api_key_env: SANDBOX_KEY, name: Sandbox}
  unused: {base_url: "https://example.org", api_key_env: UNUSED_KEY, name: Unused}
routes:
  - &chat {id: chat-eu, model: svc-chat, provider: sandbox, upstream_model: chat-1, service: chat, data_zone: EU, active: true,
    certification: {reference: A, certified_at: 2026-09-01, expires_at: 2026-12-01},
    price: {input_micros_per_million: 1, output_micros_per_million: 2}}
  - {id: chat-2, model: svc-chat, provider: sandbox, upstream_model: chat-2, service: chat, data_zone: EU, active: true,
    certification: {reference: A, certified_at: 2026-09-01, expires_at: 2027-12-01}, price: {input_micros_per_million: 1}}
  - {id: draft, model: svc-draft, provider: unused, upstream_model: d, service: chat, data_zone: EU, active: false,
    price: {input_micros_per_million: 1}}
  - {id: audio, model: svc-audio, provider: sandbox, upstream_model: a, service: audio_transcription, data_zone: EU, active: true,
    certification: {reference: A, certified_at: 2026-09-01, expires_at: 2027-12-01}, price: {micros_per_second: 3}}
delegated: {chat: [chat-2, chat-eu], audio_transcription: [audio]}
`;
const azure = good
  .replace('http://127.0.0.1:9100/v1/', 'https://x.openai.azure.com/openai/')
  .replace('name: Sandbox', 'name: Sandbox, kind: azure-openai, api_version: 2024-10-21')
  .replace('upstream_model: chat-2', 'upstream_model: chat-2, deployment: our-chat');
const parse = (text: string, nowMs = NOW) =>
  parseRoutesFile(text, { nowMs, providerKey: providerKeysFrom({ SANDBOX_KEY: 'key' }) });
const faultsOf = (text: string, nowMs = NOW): readonly string[] => {
  try {
    parse(text, nowMs);
    return [];
  } catch (error) {
    if (error instanceof RoutesFileError) return error.faults;
    throw error;
  }
};

describe('a valid file', () => {
  test('lists delegated routes in order of preference', () => {
    expect(
      parse(good)
        .delegatedChat(NOW)
        .map(({ id }) => id),
    ).toEqual(['chat-2', 'chat-eu']);
    expect(parse(good).delegatedTranscription(NOW)[0]?.price.micros_per_second).toBe(3);
  });

  test('lists the routes of a model in the order of the file', () => {
    expect(
      parse(good)
        .forModel('chat', 'svc-chat', NOW)
        ?.map(({ id }) => id),
    ).toEqual(['chat-eu', 'chat-2']);
  });

  test('distinguishes a model without a usable route from an unknown model', () => {
    expect(parse(good).forModel('chat', 'svc-draft', NOW)).toEqual([]);
    expect(parse(good).forModel('chat', 'other', NOW)).toBeUndefined();
    expect(parse(good).forModel('embeddings', 'svc-chat', NOW)).toBeUndefined();
  });

  test('splits the base URL and reads the key', () => {
    expect(parse(good).delegatedChat(NOW)[0]?.provider).toMatchObject({
      origin: 'http://127.0.0.1:9100',
      basePath: '/v1',
      apiKey: 'key',
    });
  });

  test('defaults to the common kind without an API version', () => {
    expect(parse(good).delegatedChat(NOW)[0]).toMatchObject({
      deployment: 'chat-2',
      provider: { kind: 'common', apiVersion: undefined },
    });
    expect(parse(azure).delegatedChat(NOW)[0]).toMatchObject({
      upstreamModel: 'chat-2',
      deployment: 'our-chat',
      provider: { kind: 'azure-openai', apiVersion: '2024-10-21', basePath: '/openai' },
    });
  });

  test('lists each model once, without audio models', () => {
    expect(
      parse(good)
        .models(NOW)
        .map(({ id }) => id),
    ).toEqual(['svc-chat']);
  });

  test.each([
    ['day', '2026-12-01', '2026-12-01T00:00:00Z'],
    ['instant', '2026-12-01T13:45:10.250Z', '2026-12-01T13:45:10.250Z'],
  ])('keeps a file whose certification has expired, without the route', (_name, expires_at, at) => {
    const table = parse(good.replace('expires_at: 2026-12-01', `expires_at: ${expires_at}`), Date.parse(at) + 1);
    expect(table.delegatedChat(Date.parse(at) + 1).map(({ id }) => id)).toEqual(['chat-2']);
  });

  test.each([
    ['day', '2026-12-01', '2026-12-01T00:00:00Z'],
    ['instant', '2026-12-01T13:45:10.250Z', '2026-12-01T13:45:10.250Z'],
  ])('removes a route when its certification expires at a %s', (_name, expires_at, at) => {
    const table = parse(good.replace('expires_at: 2026-12-01', `expires_at: ${expires_at}`));
    const idsAt = (nowMs: number) => table.delegatedChat(nowMs).map(({ id }) => id);
    expect(idsAt(Date.parse(at) - 1)).toEqual(['chat-2', 'chat-eu']);
    expect(idsAt(Date.parse(at))).toEqual(['chat-2']);
  });
});

test('resolves YAML aliases, which serializers write for repeated values', () => {
  const aliased = good
    .replace('certification: {reference: A', 'certification: &certified {reference: A')
    .replace(
      'certification: {reference: A, certified_at: 2026-09-01, expires_at: 2027-12-01}',
      'certification: *certified',
    );
  expect(parse(aliased).delegatedChat(NOW)).toHaveLength(2);
});

describe('reports', () => {
  test.each([
    ['invalid YAML', 'a: [', 'YAML:'],
    ['an undefined alias', good.replace('name: Sandbox', 'name: *nothing'), 'YAML:'],
    ['an alias bomb', `${good}x: [&b [${'*chat, '.repeat(50)}], *b, *b, *b]`, 'YAML:'],
    ['a repeated key', `${good}\nproviders: {}`, 'YAML:'],
    ['an unknown field', good.replace('service: chat,', 'service: chat, zone: EU,'), 'Unrecognized key'],
    ['another zone', good.replace('data_zone: EU', 'data_zone: US'), 'routes.0.data_zone'],
    [
      'a provider that does not exist',
      good.replace('provider: sandbox', 'provider: other'),
      'there is no provider other',
    ],
    [
      'a certification in another time zone than UTC',
      good.replace('expires_at: 2026-12-01', 'expires_at: 2026-12-01T12:00:00+02:00'),
      'must be a date (2026-09-01) or a time in UTC',
    ],
    [
      'a price of cached input above that of input',
      good.replace('input_micros_per_million: 1,', 'input_micros_per_million: 1, cached_input_micros_per_million: 2,'),
      'cached_input_micros_per_million: must not be above input_micros_per_million',
    ],
    ['a repeated id', good.replace('id: chat-2,', 'id: chat-eu,'), 'the id is repeated'],
    [
      'a delegated name that does not exist',
      good.replace('chat: [chat-2', 'chat: [missing'),
      'there is no route missing',
    ],
    [
      'a delegated route of another service',
      good.replace('chat: [chat-2', 'chat: [audio'),
      'serves audio_transcription',
    ],
    ['an active route without certification', good.replace(/certification: \{[^}]*\},/, ''), 'needs a certification'],
    ['an inactive provider without its key', good.replace('active: false', 'active: true'), 'UNUSED_KEY is not set'],
    ['an unknown kind', good.replace('name: Sandbox', 'name: Sandbox, kind: openai'), 'providers.sandbox.kind'],
    [
      'an API version of another kind',
      good.replace('name: Sandbox', 'name: Sandbox, api_version: 2024-10-21'),
      'only the kind azure-openai has an api_version',
    ],
    [
      'a deployment of another kind',
      good.replace('upstream_model: chat-2', 'upstream_model: chat-2, deployment: x'),
      'only providers of the kind azure-openai have deployments',
    ],
    ["a base URL of Azure's other API", azure.replace('/openai/', '/openai/v1'), 'base_url must end in'],
    [
      'dates in the wrong order',
      good.replace('2026-09-01, expires_at: 2026-12-01', '2026-12-01, expires_at: 2026-09-01'),
      'ends before',
    ],
  ])('%s', (_name, text, fault) => {
    expect(faultsOf(text).join('\n')).toContain(fault);
  });

  test('a certification that is not yet valid', () => {
    expect(faultsOf(good, Date.parse('2026-08-31T00:00:00Z')).join()).toContain('not valid before');
  });

  test('all faults together', () => {
    const text = good.replace('chat: [chat-2', 'chat: [missing').replace('id: chat-2,', 'id: chat-eu,');
    expect(faultsOf(text)).toHaveLength(2);
  });
});

let directory: string;
let file: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'provider-key-'));
  file = join(directory, 'key');
});
afterAll(() => rm(directory, { recursive: true }));

const faultOf = (environment: Record<string, string>): string => {
  const key = providerKeysFrom(environment)('A_KEY');
  return 'fault' in key ? key.fault : '';
};

describe('reads a key', () => {
  test('from its variable', () => {
    expect(providerKeysFrom({ A_KEY: 'sesame', A_KEY_FILE: '' })('A_KEY')).toEqual({ value: 'sesame' });
  });

  test('from the current content of its file, without the line end', async () => {
    const read = providerKeysFrom({ A_KEY: '', A_KEY_FILE: file });
    for (const value of ['first', 'second']) {
      await writeFile(file, `${value}\r\n`);
      expect(read('A_KEY')).toEqual({ value });
    }
  });
});

test('reads a key from PROVIDER_KEYS_DIR unless its variable is set', async () => {
  await writeFile(join(directory, 'A_KEY'), 'sesame\n');
  expect(providerKeysFrom({ PROVIDER_KEYS_DIR: directory })('A_KEY')).toEqual({ value: 'sesame' });
  expect(providerKeysFrom({ PROVIDER_KEYS_DIR: directory, A_KEY: 'other' })('A_KEY')).toEqual({ value: 'other' });
  expect(faultOf({ PROVIDER_KEYS_DIR: '/nowhere' })).toContain('A_KEY in PROVIDER_KEYS_DIR cannot be read (ENOENT)');
});

describe('reports a fault for', () => {
  test.each([
    ['neither variable', {}, 'A_KEY is not set, nor is A_KEY_FILE'],
    ['an empty variable', { A_KEY: '' }, 'A_KEY is not set, nor is A_KEY_FILE'],
    ['both variables', { A_KEY: 'sesame', A_KEY_FILE: '/nowhere' }, 'both A_KEY and A_KEY_FILE are set'],
    ['a missing file', { A_KEY_FILE: '/nowhere' }, 'the file of A_KEY_FILE cannot be read (ENOENT)'],
    ['a folder', { A_KEY_FILE: tmpdir() }, 'the file of A_KEY_FILE cannot be read (EISDIR)'],
    ['a value that is invalid in a header', { A_KEY: 'open sesame' }, 'A_KEY holds no key'],
  ])('%s', (_name, environment, fault) => {
    expect(faultOf(environment)).toContain(fault);
  });

  test.each([
    ['an empty file', ' \n', 'holds no key'],
    ['two lines', 'first\nsecond\n', 'holds no key'],
    ['a large file', 'x'.repeat(20_000), 'too large'],
  ])('%s', async (_name, content, fault) => {
    await writeFile(file, content);
    expect(faultOf({ A_KEY_FILE: file })).toContain(fault);
    expect(faultOf({ A_KEY_FILE: file })).not.toContain('first');
  });
});
