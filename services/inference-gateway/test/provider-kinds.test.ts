import { writeFile } from 'node:fs/promises';
import { createLifecycle, createLogger, openTraces } from '@svc/service-kit';
import { traceCollector, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RecordedProvider, startRecordedProvider } from './support/recorded-provider.ts';
import { createKey, route, routesYaml, startGateway, type TestGateway } from './support/start-gateway.ts';

/** Recorded answers of every kind of provider, through the whole gateway. */
const OFFERINGS = {
  mistral: { kind: 'mistral', path: '/v1', model: 'mistral-small-2506', audio: 'voxtral-mini-2602' },
  ovhcloud: { kind: 'ovhcloud', path: '/v1', model: 'Meta-Llama-3_3-70B-Instruct', audio: 'whisper-large-v3' },
  scaleway: { kind: 'scaleway', path: '/v1', model: 'mistral-small-3.2-24b-instruct-2506', audio: 'whisper-large-v3' },
  azure: { kind: 'azure-openai', path: '/openai/v1', model: 'gpt-4o', audio: 'whisper' },
  dated: { kind: 'azure-openai', path: '/openai', model: 'gpt-4o', audio: 'whisper', version: '2024-10-21' },
  vllm: { kind: 'vllm', path: '/v1', model: 'meta-llama/Llama-3.1-8B-Instruct', audio: 'openai/whisper-large-v3' },
  ollama: { kind: 'vllm', path: '/v1', model: 'llama3.2:3b', audio: 'whisper' },
} as const;
type Offering = keyof typeof OFFERINGS;
const NAMES = ['mistral', 'ovhcloud', 'scaleway', 'azure', 'dated', 'vllm', 'ollama'] as const;

let gateway: TestGateway;
let provider: RecordedProvider;
let key: string;
let token: string;

const routes = (chat: Offering, audio: Offering): string =>
  routesYaml({
    providers: NAMES.map((name) => {
      const offering = OFFERINGS[name];
      const version = 'version' in offering ? `, api_version: ${offering.version}` : '';
      return `${name}: {kind: ${offering.kind}, base_url: "${provider.url}${offering.path}", api_key_env: PROVIDER_KEY, name: ${name}${version}}`;
    }),
    routes: NAMES.flatMap((name) => {
      const { kind, model, audio: audioModel } = OFFERINGS[name];
      const deployment = kind === 'azure-openai' ? 'deployment: my-deployment, ' : '';
      return [
        `{${deployment}${route(name, { provider: name, model: name, upstream: model }).slice(1)}`,
        route(`audio-${name}`, { provider: name, service: 'audio_transcription', upstream: audioModel }),
      ];
    }),
    chat: [chat],
    audio: [`audio-${audio}`],
  });
const use = async (name: Offering): Promise<void> => {
  await writeFile(gateway.routesFile, routes(name, name));
  expect(await gateway.reload()).toBe(true);
};

beforeAll(async () => {
  provider = await startRecordedProvider();
  gateway = await startGateway({ routes: () => routes('mistral', 'mistral') });
  token = await gateway.tokens.accessToken();
  key = await createKey(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const ask = async (name: Offering, played: string, more: object = {}) => {
  provider.play = played;
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: name, messages: [{ role: 'user', content: 'Hi' }], ...more }),
  });
  return { answer, text: await answer.text() };
};
const askDelegated = async (name: Offering, played: string, more: object = {}) => {
  await use(name);
  provider.play = played;
  const answer = await fetch(`${gateway.url}/v1/integrations/inference/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...more }),
  });
  return { answer, text: await answer.text() };
};
const transcribe = async (name: Offering, played: string, fields: Record<string, string> = {}) => {
  await use(name);
  provider.play = played;
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', new Blob([Buffer.alloc(10_000)], { type: 'audio/mpeg' }), 'a.mp3');
  const answer = await fetch(`${gateway.url}/v1/integrations/inference/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  return { answer, body: JSON.parse(await answer.text()) };
};
const recordOf = (answer: Response) =>
  waitFor(() =>
    gateway.database
      .knex('usage_records')
      .where({ request_id: answer.headers.get('x-request-id') })
      .first(),
  );
const sentBody = () => JSON.parse(provider.sent().body.toString());
const dataOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('data: {'))
    .map((block) => JSON.parse(block.slice('data: '.length)));
const contentOf = (text: string): string =>
  dataOf(text)
    .flatMap(({ choices }) => choices)
    .map(({ delta }) => delta?.content ?? '')
    .join('');

const ANSWERS = [
  {
    name: 'mistral',
    id: '01a0510a-7428-7e91-bcac-b38b12013eb6',
    used: [14, 11],
    content: 'Brie de Meaux é.',
    streamed: 7,
  },
  {
    name: 'ovhcloud',
    id: 'chatcmpl-8c1f0f5e2b7c4d0f9e6a',
    used: [16, 8],
    content: 'Two plus two is four.',
    streamed: 8,
  },
  {
    name: 'scaleway',
    id: 'chatcmpl-23f51e7a1a3c4b0d8f55',
    used: [20, 7],
    content: 'Scaleway is in Paris.',
    streamed: 7,
  },
  { name: 'azure', id: '4f0d3c32-8a5e-4a5d-b6d1-6d9b8f5e21aa', used: [13, 2], content: 'Hi', streamed: 2 },
  { name: 'dated', id: '4f0d3c32-8a5e-4a5d-b6d1-6d9b8f5e21aa', used: [13, 2], content: 'Hi', streamed: 2 },
  { name: 'vllm', id: '0c1d2e3f405162738495a6b7c8d9eaf0', used: [11, 3], content: 'Local.', streamed: 3 },
  { name: 'ollama', id: 'chatcmpl-517', used: [26, 3], content: 'Hello.', streamed: 3 },
] as const;

describe.each(ANSWERS)('$name', ({ name, id, used, content, streamed }) => {
  const { kind } = OFFERINGS[name];
  const json = `${kind}/fixtures/${name === 'ollama' ? 'ollama-' : ''}chat`;
  const stream = `${kind}/fixtures/${name === 'ollama' ? 'ollama-' : ''}stream`;

  test('attributes an answer by its request id and model, and charges its usage', async () => {
    const { answer, text } = await ask(name, json);
    expect(answer.status).toBe(200);
    expect(JSON.parse(text).extensions.compliance_metadata).toMatchObject({
      provider: name,
      upstream_request_id: id,
      data_zone: 'EU',
    });
    expect(await recordOf(answer)).toMatchObject({
      input_tokens: used[0],
      output_tokens: used[1],
      is_estimated: false,
      upstream_request_id: id,
    });
  });

  test('charges the usage of a stream, which ends with its metadata', async () => {
    const { answer, text } = await ask(name, stream, { stream: true });
    expect(answer.status).toBe(200);
    expect(contentOf(text)).toBe(content);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(dataOf(text).at(-1)).toMatchObject({ choices: [], extensions: { compliance_metadata: { provider: name } } });
    expect(await recordOf(answer)).toMatchObject({
      input_tokens: used[0],
      output_tokens: streamed,
      is_estimated: false,
    });
  });

  test('hides the provider from apps, and records its request id', async () => {
    const { answer, text } = await askDelegated(name, stream, { stream: true });
    expect(contentOf(text)).toBe(content);
    for (const chunk of dataOf(text)) {
      expect(Object.keys(chunk).sort()).toEqual(['choices', 'created', 'id', 'model', 'object']);
      expect(chunk.model).toBe('svc');
      for (const choice of chunk.choices) expect(choice.delta).toBeDefined();
    }
    expect(await recordOf(answer)).toMatchObject({ output_tokens: streamed, is_estimated: false });
    expect((await recordOf(answer)).upstream_request_id).not.toBeNull();
  });
});

describe('the request to the provider', () => {
  test('contains no trace context', async () => {
    const collector = await traceCollector();
    const logger = createLogger({ service: 'inference-gateway', level: 'silent' });
    const life = createLifecycle({ logger });
    await openTraces(life, { service: 'inference-gateway', config: collector.settings, logger });
    const { answer } = await ask('mistral', 'mistral/fixtures/chat');
    expect(answer.status).toBe(200);
    const expected = [
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
    ];
    expect(Object.keys(provider.sent().headers).toSorted()).toEqual(expected);
    await life.stop();
    await collector.close();
    const exchange = collector.spans.find(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat');
    expect(exchange?.name).toBe(`chat ${exchange?.attributes['gen_ai.request.model']}`);
    expect(exchange?.attributes).toMatchObject({
      'gen_ai.response.model': expect.any(String),
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(provider.url).port),
    });
  });

  test('Mistral: uses its names, and omits what it rejects', async () => {
    const more = {
      stream: true,
      stream_options: { include_usage: true },
      seed: 7,
      max_completion_tokens: 9,
      top_p: 1.0,
    };
    await askDelegated('mistral', 'mistral/fixtures/stream', more);
    expect(provider.sent()).toMatchObject({
      url: '/v1/chat/completions',
      headers: { authorization: 'Bearer the-key-of-the-provider' },
    });
    expect(sentBody()).toEqual({
      model: 'mistral-small-2506',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      random_seed: 7,
      max_tokens: 9,
      top_p: 1,
    });
  });

  test('Azure OpenAI: sends the key as `api-key`, and the deployment as the model', async () => {
    await ask('azure', 'azure-openai/fixtures/stream', { stream: true, seed: 7 });
    const { url, headers } = provider.sent();
    expect(url).toBe('/openai/v1/chat/completions');
    expect(headers).toMatchObject({ 'api-key': 'the-key-of-the-provider' });
    expect(headers.authorization).toBeUndefined();
    expect(sentBody()).toMatchObject({ model: 'my-deployment', seed: 7, stream_options: { include_usage: true } });
  });

  test('Azure OpenAI, dated: has the deployment and the version in the URL', async () => {
    await ask('dated', 'azure-openai/fixtures/chat');
    expect(provider.sent().url).toBe('/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21');
  });

  test.each(['ovhcloud', 'scaleway', 'vllm'] as const)('%s: passes the common wire format through', async (name) => {
    await ask(name, `${name}/fixtures/stream`, { stream: true, seed: 7, max_completion_tokens: 9 });
    expect(provider.sent().headers.authorization).toBe('Bearer the-key-of-the-provider');
    expect(sentBody()).toMatchObject({ seed: 7, max_completion_tokens: 9, stream_options: { include_usage: true } });
  });
});

describe("errors in the provider's own shape", () => {
  test.each([
    ['mistral', 'refused-field', 422, { message: 'logit_bias: Extra inputs are not permitted', param: 'logit_bias' }],
    ['mistral', 'tier-not-allowed', 502, { code: 'upstream_error' }],
    ['mistral', 'rate-limited', 503, { code: 'upstream_unavailable' }],
    ['ovhcloud', 'unauthorized', 502, { code: 'upstream_error' }],
    ['ovhcloud', 'rate-limited', 503, { code: 'upstream_unavailable' }],
    ['scaleway', 'bad-request', 400, { message: 'max_tokens must be at least 1, got -1.', code: '400' }],
    ['scaleway', 'bad-request-legacy', 400, { message: 'max_tokens must be at least 1, got -1.', code: '400' }],
    ['scaleway', 'unknown-model', 422, { message: 'Model not found' }],
    ['scaleway', 'forbidden', 502, { code: 'upstream_error' }],
    ['azure', 'filtered-prompt', 400, { code: 'content_filter', param: 'prompt' }],
    ['azure', 'unauthorized', 502, { code: 'upstream_error' }],
    ['azure', 'rate-limited', 503, { code: 'upstream_unavailable' }],
    ['vllm', 'bad-request', 400, { type: 'BadRequestError', code: '400' }],
    ['vllm', 'unknown-model', 404, { param: 'model' }],
    ['ollama', 'ollama-unknown-model', 404, { type: 'api_error' }],
  ] as const)('are mapped: %s %s', async (name, file, status, error) => {
    const played = `${OFFERINGS[name].kind}/fixtures/${file}`;
    const { answer, text } = await ask(name, played);
    expect(answer.status).toBe(status);
    expect(JSON.parse(text).error).toMatchObject(error);
    expect(await recordOf(answer)).toMatchObject({ outcome: 'released', status });
    // A provider's message never reaches an app.
    const delegated = await askDelegated(name, played);
    expect(delegated.text).not.toMatch(/mistral|azure|max_tokens|not permitted|pulling/i);
  });

  test('keep their Retry-After', async () => {
    const { answer } = await ask('azure', 'azure-openai/fixtures/rate-limited');
    expect(answer.headers.get('retry-after')).toBe('12');
  });

  test('OVHcloud: returns 502 if the model is redirected to another one', async () => {
    const { answer, text } = await ask('ovhcloud', 'ovhcloud/fixtures/redirected-model');
    expect(answer.status).toBe(502);
    expect(JSON.parse(text).error.code).toBe('provider_attribution_ambiguous');
  });

  test('Scaleway: an error within a stream ends it without [DONE], with an uncertain outcome', async () => {
    const { answer, text } = await ask('scaleway', 'scaleway/fixtures/broken-stream', { stream: true });
    expect(dataOf(text).at(-1)?.error?.code).toBe('upstream_timeout_uncertain');
    expect(text).not.toContain('[DONE]');
    expect(text).not.toContain('EngineCore');
    expect((await recordOf(answer)).outcome).toBe('uncertain');
  });
});

describe('transcription', () => {
  test('Mistral: omits prompt and format, requests timestamps for verbose_json, and reads the seconds of its usage', async () => {
    const fields = { prompt: 'Chicago', response_format: 'verbose_json', language: 'en' };
    const { answer, body } = await transcribe('mistral', 'mistral/fixtures/transcription', fields);
    expect(body).toMatchObject({ text: 'This week I traveled to Chicago.', usage: { type: 'duration', seconds: 7 } });
    expect(body.model).toBeUndefined();
    const form = provider.sent().body.toString('latin1');
    for (const absent of ['name="prompt"', 'response_format']) expect(form).not.toContain(absent);
    expect(form).toContain('name="timestamp_granularities"\r\n\r\nsegment');
    expect(form).toContain('name="model"\r\n\r\nvoxtral-mini-2602');
    expect(await recordOf(answer)).toMatchObject({ audio_ms: 7_000, is_estimated: false });
  });

  test('OVHcloud: requests json, as its default is verbose_json', async () => {
    const { answer, body } = await transcribe('ovhcloud', 'ovhcloud/fixtures/transcription');
    expect(provider.sent().body.toString('latin1')).toContain('name="response_format"\r\n\r\njson');
    expect(body).not.toHaveProperty('success');
    expect(body).not.toHaveProperty('diarization');
    expect(await recordOf(answer)).toMatchObject({ audio_ms: 5_000, is_estimated: false });
  });

  test('Azure OpenAI, dated: has the deployment in the URL', async () => {
    const { body } = await transcribe('dated', 'ovhcloud/fixtures/transcription');
    expect(provider.sent().url).toBe('/openai/deployments/whisper/audio/transcriptions?api-version=2024-10-21');
    expect(body.text).toContain('Octave');
  });
});

describe('cached input and reasoning', () => {
  test.each([
    ['mistral', 'mistral/fixtures/cached', 0],
    ['ovhcloud', 'ovhcloud/fixtures/cached', 12],
    ['scaleway', 'scaleway/fixtures/cached', 0],
    ['azure', 'azure-openai/fixtures/cached', 12],
    ['vllm', 'vllm/fixtures/cached', 0],
  ] as const)('of %s are recorded, and cached input is charged at its own price', async (name, played, reasoning) => {
    const price = 'output_micros_per_million: 6000000';
    const cached = `${price}, cached_input_micros_per_million: 200000`;
    await writeFile(gateway.routesFile, routes(name, name).replaceAll(price, cached));
    expect(await gateway.reload()).toBe(true);
    const { answer } = await ask(name, played);
    // 5 tokens at 2, 1,008 at 0.2 and 30 at 6 micros.
    expect(await recordOf(answer)).toMatchObject({
      input_tokens: 1_013,
      cached_input_tokens: 1_008,
      output_tokens: 30,
      reasoning_tokens: reasoning,
      cost_micros: 392,
    });
  });
});
