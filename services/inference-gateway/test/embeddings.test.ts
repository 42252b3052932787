import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

/** Embeddings are the largest answers: 2,048 inputs of 3,072 numbers are more than 70 MB. */

const MEBIBYTE = 1024 * 1024;
let gateway: TestGateway;
let raw: RawProvider;
let key: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  key = await createKey(gateway);
  await useProviders(gateway, { raw: `${raw.url}/v1` });
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
beforeEach(() => {
  raw.bodies.length = 0;
});

const embed = (headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'svc-embedding', input: ['Hello'], encoding_format: 'float' }),
  });
const HEAD = '{"object":"list","data":[';
const TAIL = '],"model":"sandbox-embedding-1","usage":{"prompt_tokens":40960,"total_tokens":40960}}';
/** An embedding of `numbers` numbers, as providers print them. */
const embedding = (numbers: number): Buffer =>
  Buffer.from(
    `{"object":"embedding","index":0,"embedding":[${Array.from({ length: numbers }, (_, n) => `-0.0${10_000_000 + n}`).join(',')}]}`,
  );
const COMMA = Buffer.from(',');

/** Plays an answer with `count` embeddings. */
const play = (count: number, numbers: number, { announces = false, tail = TAIL } = {}): void => {
  const item = embedding(numbers);
  const length = HEAD.length + count * (item.length + 1) - 1 + tail.length;
  raw.handle = async (_req, res) => {
    let goOn = (): void => {};
    const wake = (): void => goOn();
    res.on('error', () => {});
    res.on('drain', wake).on('close', wake);
    res.writeHead(200, {
      'content-type': 'application/json',
      'x-request-id': 'upstream-1',
      ...(announces ? { 'content-length': length } : {}),
    });
    res.write(HEAD);
    for (let sent = 0; sent < count && !res.destroyed; sent += 1) {
      if (sent > 0) res.write(COMMA);
      if (!res.write(item)) {
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      }
    }
    res.end(tail);
  };
};
const recordOf = (answer: Response) =>
  waitFor(() =>
    gateway.database
      .knex('usage_records')
      .where({ request_id: answer.headers.get('x-request-id') ?? '' })
      .first(),
  );

describe('embeddings', () => {
  test.each([
    [1_536, false],
    [3_072, true],
  ])(
    'of 2,048 inputs of %i numbers pass with compliance metadata (length announced: %s)',
    async (numbers, announces) => {
      play(2_048, numbers, { announces });
      const stalls: number[] = [];
      let last = performance.now();
      // Gateway, provider and caller share this event loop, so this bounds the gateway's share too.
      const watch = setInterval(() => {
        stalls.push(performance.now() - last);
        last = performance.now();
      }, 5);
      const answer = await embed();
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-svc-compliance-model')).toBe('sandbox-embedding-1');
      let bytes = 0;
      let end = Buffer.alloc(0);
      for await (const piece of answer.body ?? []) {
        bytes += piece.length;
        end = Buffer.concat([end, piece]).subarray(-2_000);
      }
      clearInterval(watch);
      expect(bytes).toBeGreaterThan(2_048 * embedding(numbers).length);
      const text = end.toString();
      const { extensions, usage } = JSON.parse(`{${text.slice(text.indexOf('],"model"') + 2)}`);
      expect(extensions.compliance_metadata.model).toBe('sandbox-embedding-1');
      expect(usage).toEqual({ prompt_tokens: 40_960, total_tokens: 40_960 });
      expect(Math.max(...stalls)).toBeLessThan(1_000);
      expect(await recordOf(answer)).toMatchObject({ outcome: 'settled', input_tokens: 40_960, is_estimated: false });
    },
  );

  test('pass byte for byte with X-Svc-Compliance: headers', async () => {
    play(300, 1_536);
    const answer = await embed({ 'x-svc-compliance': 'headers' });
    const text = await answer.text();
    const item = embedding(1_536).toString();
    expect(text === `${HEAD}${Array.from({ length: 300 }, () => item).join(',')}${TAIL}`).toBe(true);
  });

  test('beyond 128 MiB are 502 without a retry, and charged', async () => {
    play(8_000, 1_536);
    const answer = await embed();
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
    expect(JSON.parse(await answer.text()).error.code).toBe('upstream_error');
    const record = await recordOf(answer);
    expect(record).toMatchObject({ outcome: 'settled', is_estimated: true, output_tokens: 0, status: 502 });
    expect(raw.bodies).toHaveLength(1);
  });

  test('with too many values that are no numbers are 502 without a retry', async () => {
    const list = `[${'"a",'.repeat(500_000)}1]`;
    raw.handle = (_req, res) =>
      res.writeHead(200, { 'x-request-id': 'u' }).end(`{"data":[{"embedding":${list}}]${TAIL.slice(1)}`);
    const answer = await embed();
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
  });

  test.each([
    ['a text that ends early', `${HEAD}{"embedding":[1,2`, 504],
    ['no object', '[1,2]', 504],
    ['a repeated model', `${HEAD}],"model":"sandbox-embedding-1"${TAIL.slice(1)}`, 502],
    ['another model', `${HEAD}],"model":"other"}`, 502],
  ])('of %s are not passed on, and not retried', async (_name, text, status) => {
    raw.handle = (_req, res) => res.writeHead(200, { 'x-request-id': 'u' }).end(text);
    const answer = await embed();
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([status, 'false']);
  });

  test('that report an error are a definite failure', async () => {
    raw.handle = (_req, res) => res.writeHead(200, { 'x-request-id': 'u' }).end('{"error":{"message":"no"}}');
    const answer = await embed();
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([503, null]);
    expect(await recordOf(answer)).toMatchObject({ outcome: 'released', cost_micros: 0 });
  });
});

test('the process keeps little of an answer that was sent', async () => {
  play(2_048, 3_072);
  const before = process.memoryUsage().arrayBuffers;
  const answer = await embed();
  for await (const piece of answer.body ?? []) void piece;
  await waitFor(() => process.memoryUsage().arrayBuffers - before < 64 * MEBIBYTE);
});
