import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { provenanceClaimsSchema } from '@svc/contracts';
import fc from 'fast-check';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

const MODEL = 'sandbox-chat-1';
const ASKED = { 'x-svc-provenance': '1' };
let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let token: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  key = await createKey(gateway);
  token = await gateway.tokens.accessToken();
  await useProviders(gateway, { raw: raw.url });
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});

const json = async (answer: Response) => JSON.parse(await answer.text());
const messages = [{ role: 'user', content: 'Hi' }];
const ROUTES = {
  delegated: { path: '/v1/integrations/inference/chat/completions', body: { messages } },
  chat: { path: '/v1/chat/completions', body: { model: 'svc-chat', messages } },
  responses: { path: '/v1/responses', body: { model: 'svc-chat', input: 'Hi' } },
} as const;
type RouteName = keyof typeof ROUTES;
const NAMES = ['delegated', 'chat', 'responses'] as const;
const post = (name: RouteName, more: object = {}, headers: Record<string, string> = ASKED) =>
  fetch(`${gateway.url}${ROUTES[name].path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${name === 'delegated' ? token : key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ ...ROUTES[name].body, ...more }),
  });

const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
const HEAD = { id: 'c1', created: 1, model: MODEL };
const whole = (choices: readonly object[]) => ({ ...HEAD, object: 'chat.completion', choices, usage });
const chunk = (choices: readonly object[]) => ({ ...HEAD, object: 'chat.completion.chunk', choices });
const play = (answer: (res: ServerResponse) => void): void => {
  raw.handle = (_req, res) => answer(res);
};
const playAnswer = (choices: readonly object[]) =>
  play((res) =>
    res
      .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' })
      .end(JSON.stringify(whole(choices))),
  );
const event = (data: object | string) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const playStream = (...events: readonly (object | string)[]) =>
  play((res) => eventStream(res).end(events.map(event).join('')));

const dataOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.includes('data: {'))
    .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 'data: '.length)));

interface Form {
  readonly content: string | null;
  readonly refusal: string | null;
  readonly tool_calls: readonly { name: string; arguments: string }[];
}
/** The form of the contract, written with sorted members. */
const digestOf = (forms: readonly (Form & { readonly index: number })[]): string => {
  const sorted = forms.map(({ content, index, refusal, tool_calls }) => ({
    content,
    index,
    refusal,
    tool_calls: tool_calls.map(({ name, arguments: args }) => ({ arguments: args, name })),
  }));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
};
const form = (more: Partial<Form> = {}): Form & { index: number } => ({
  index: 0,
  content: null,
  refusal: null,
  tool_calls: [],
  ...more,
});
const claimsOf = async (jws: string) => {
  const keys = await json(await fetch(`${gateway.url}/v1/provenance/jwks`));
  const { payload } = await jwtVerify(jws, createLocalJWKSet(keys), {
    algorithms: ['ES256'],
    typ: 'svc-provenance+jwt',
    issuer: gateway.tokens.publicBaseUrl,
  });
  return provenanceClaimsSchema.parse(payload);
};
/** Returns the proof in a JSON answer or at the end of a stream. */
const proofOf = async (answer: Response): Promise<string | undefined> => {
  const text = await answer.text();
  if (answer.headers.get('content-type')?.includes('json') === true) return JSON.parse(text).extensions?.provenance;
  const last = dataOf(text).at(-1);
  return (last.response ?? last).extensions?.provenance;
};
const provenDigest = async (name: RouteName, more: object = {}): Promise<string | undefined> => {
  const answer = await post(name, more);
  expect(answer.status).toBe(200);
  const proof = await proofOf(answer);
  return proof === undefined ? undefined : (await claimsOf(proof)).content_sha256;
};

describe('a proof of an answer', () => {
  const text = [{ index: 0, message: { role: 'assistant', content: 'Ciao "Lugano" 😀\n' }, finish_reason: 'stop' }];

  test.each(['chat', 'responses'] as const)(
    'of %s names the provider, the model and the certification',
    async (name) => {
      playAnswer(text);
      const answer = await post(name);
      const body = await json(answer);
      expect(Object.keys(body.extensions)).toEqual(['compliance_metadata', 'provenance']);
      expect(await claimsOf(body.extensions.provenance)).toEqual({
        iss: gateway.tokens.publicBaseUrl,
        iat: expect.any(Number),
        request_id: answer.headers.get('x-request-id'),
        generated_by: 'ai',
        content_sha256: digestOf([form({ content: 'Ciao "Lugano" 😀\n' })]),
        provider: 'Sandbox raw',
        model: MODEL,
        data_zone: 'EU',
        certification: 'TEST',
      });
    },
  );

  test('of an app names no provider, and is the only extension', async () => {
    playAnswer(text);
    const answer = await post('delegated');
    const body = await json(answer);
    expect(Object.keys(body.extensions)).toEqual(['provenance']);
    const claims = await claimsOf(body.extensions.provenance);
    expect(Object.keys(claims).sort()).toEqual(['content_sha256', 'generated_by', 'iat', 'iss', 'request_id']);
    expect(claims.request_id).toBe(answer.headers.get('x-request-id'));
  });

  test.each(NAMES)('stands in the last event of a stream of %s, whose other events stay', async (name) => {
    const events = [
      chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
      ...['Ciao', ' "Lu', 'gano"', ' \ud83d', '\ude00', '\n'].map((content) =>
        chunk([{ index: 0, delta: { content }, finish_reason: null }]),
      ),
      chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
      { ...chunk([]), usage },
      '[DONE]',
    ];
    playStream(...events);
    const plainText = await (await post(name, { stream: true }, {})).text();
    const plain = dataOf(plainText);
    playStream(...events);
    const answer = await post(name, { stream: true });
    const sent = await answer.text();
    const proven = dataOf(sent);
    const last = proven.at(-1);
    const { provenance } = (last.response ?? last).extensions;
    expect((await claimsOf(provenance)).content_sha256).toBe(digestOf([form({ content: 'Ciao "Lugano" 😀\n' })]));
    // Nothing of a request's own is in a passed-through stream, so its other bytes are equal.
    if (name === 'chat') expect(sent.split('\n\n').slice(0, -3)).toEqual(plainText.split('\n\n').slice(0, -3));
    if (name !== 'responses') expect(sent.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(proven.length).toBe(name === 'delegated' ? plain.length + 1 : plain.length);
    if (name === 'responses') expect(JSON.stringify(proven).split('"provenance"')).toHaveLength(2);
    else expect(last.choices).toEqual([]);
  });

  test.each(NAMES)('is not in an interrupted stream of %s', async (name) => {
    playStream(chunk([{ index: 0, delta: { role: 'assistant', content: 'Half' }, finish_reason: null }]));
    const text = await (await post(name, { stream: true })).text();
    expect(text).toContain('error');
    expect(text).not.toContain('provenance');
  });

  test.each(NAMES)('is not in an error of %s', async (name) => {
    play((res) => res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}'));
    const answer = await post(name);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await answer.text()).not.toContain('provenance');
  });
});

describe('without the header', () => {
  test.each(NAMES)('%s has the bytes of the provider and metadata, and no proof', async (name) => {
    playAnswer([{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]);
    const body = await json(await post(name, {}, {}));
    expect(Object.keys(body.extensions ?? {})).toEqual(name === 'delegated' ? [] : ['compliance_metadata']);
  });
});

describe('the header', () => {
  test.each(['0', 'true', '1, 1'])('with the value "%s" is refused', async (value) => {
    const headers = { 'x-svc-provenance': value };
    expect((await post('delegated', {}, headers)).status).toBe(422);
    for (const name of ['chat', 'responses'] as const) {
      const answer = await post(name, {}, headers);
      expect([answer.status, (await json(answer)).error.code]).toEqual([400, 'invalid_request_error']);
    }
  });

  test('is refused beside metadata in headers alone', async () => {
    for (const name of ['chat', 'responses'] as const) {
      const answer = await post(name, {}, { ...ASKED, 'x-svc-compliance': 'headers' });
      expect([answer.status, (await json(answer)).error.code]).toEqual([400, 'provenance_needs_body']);
    }
  });

  test('is allowed to pages of any origin, which may read the keys too', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    const preflight = await fetch(`${gateway.url}${ROUTES.delegated.path}`, { method: 'OPTIONS', headers });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-svc-provenance');
    const keys = await fetch(`${gateway.url}/v1/provenance/jwks`);
    expect(keys.headers.get('access-control-allow-origin')).toBe('*');
    expect(keys.headers.get('cache-control')).toBe('public, max-age=3600');
  });
});

test('a proof is neither stored, logged nor journaled', async () => {
  playAnswer([{ index: 0, message: { role: 'assistant', content: 'secret-content' }, finish_reason: 'stop' }]);
  const answer = await post('chat');
  const proof = (await json(answer)).extensions.provenance;
  const { content_sha256: digest } = await claimsOf(proof);
  await expect
    .poll(() =>
      gateway.database
        .knex('usage_records')
        .where({ request_id: answer.headers.get('x-request-id') })
        .first(),
    )
    .toBeDefined();
  const rows = await gateway.database.knex('usage_records');
  const facts = await gateway.database.knex('outbox');
  const kept = JSON.stringify([rows, facts]) + gateway.logs();
  for (const text of [digest, proof.split('.')[2], 'secret-content']) expect(kept).not.toContain(text);
});

interface Message {
  readonly content: string;
  readonly refusal: string;
  readonly tool_calls: readonly { readonly name: string; readonly arguments: string }[];
}

const characters = fc.constantFrom('a', 'è', '"', '\\', '\n', '😀', '\u2028', '\u0007', ' ', '1.0');
const message: fc.Arbitrary<Message> = fc.record({
  content: fc.array(characters, { maxLength: 20 }).map((parts) => parts.join('')),
  refusal: fc.constantFrom('', 'No.'),
  tool_calls: fc.array(
    fc.record({
      name: fc.constantFrom('find', 'send_mail'),
      arguments: fc.constantFrom('', '{}', '{"n": 1.0}', '{"b":"\\u00e9", "a":[1e3]}'),
    }),
    { maxLength: 3 },
  ),
});
const call = ({ name, arguments: args }: Message['tool_calls'][number], index: number) => ({
  id: `call_${index}`,
  type: 'function',
  function: { name, arguments: args },
});

/** Splits a message into pieces of at most `size` code units, as a provider would. */
const deltasOf = ({ content, refusal, tool_calls }: Message, size: number): object[] => {
  const pieces = (text: string) =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
  return [
    { role: 'assistant', content: '' },
    ...pieces(content).map((part) => ({ content: part })),
    ...pieces(refusal).map((part) => ({ refusal: part })),
    ...tool_calls.flatMap((made, index) => [
      { tool_calls: [{ index, ...call({ ...made, arguments: '' }, index) }] },
      ...pieces(made.arguments).map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
    ]),
  ];
};

test('the digest of a message is that of its form, in JSON and in a stream in any pieces', async () => {
  await fc.assert(
    fc.asyncProperty(message, fc.integer({ min: 1, max: 7 }), fc.constantFrom(...NAMES), async (given, size, name) => {
      const { content, refusal, tool_calls } = given;
      const calls = tool_calls.map(call);
      playAnswer([
        {
          index: 0,
          message: { role: 'assistant', content, refusal, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
          finish_reason: 'stop',
        },
      ]);
      const wanted = digestOf([form({ content: content || null, refusal: refusal || null, tool_calls })]);
      expect(await provenDigest(name)).toBe(wanted);
      playStream(
        ...deltasOf(given, size).map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
        chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
        { ...chunk([]), usage },
        '[DONE]',
      );
      expect(await provenDigest(name, { stream: true })).toBe(wanted);
    }),
    { numRuns: 60 },
  );
});

test('the digest of several choices is in the order of their indexes', async () => {
  const forms = [form({ content: 'Zero' }), { ...form({ content: 'One' }), index: 1 }];
  playAnswer(
    [1, 0].map((index) => ({
      index,
      message: { role: 'assistant', content: forms[index]?.content },
      finish_reason: 'stop',
    })),
  );
  expect(await provenDigest('chat', { n: 2 })).toBe(digestOf(forms));
  playStream(
    ...[1, 0].map((index) => chunk([{ index, delta: { content: forms[index]?.content }, finish_reason: null }])),
    chunk([0, 1].map((index) => ({ index, delta: {}, finish_reason: 'stop' }))),
    { ...chunk([]), usage },
    '[DONE]',
  );
  expect(await provenDigest('chat', { n: 2, stream: true })).toBe(digestOf(forms));
});

test.each(NAMES)('an answer of %s that is read in a worker has a proof', async (name) => {
  const content = 'x'.repeat(300_000);
  playAnswer([{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]);
  const wanted = digestOf([form({ content })]);
  expect(await provenDigest(name)).toBe(wanted);
  playStream(
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    chunk([{ index: 0, delta: { content }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    { ...chunk([]), usage },
    '[DONE]',
  );
  expect(await provenDigest(name, { stream: true })).toBe(wanted);
});
