import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

/** An answer has been paid for when it arrives, so it waits for memory. Only requests that are not forwarded yet are refused. */

const MEBIBYTE = 1024 * 1024;
/** More than half of an account's share, and more than the sockets on the way can hold. */
const LARGE = 30 * MEBIBYTE;
const WAITING_MAX = 32;
let gateway: TestGateway;
let raw: RawProvider;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  await useProviders(gateway, { raw: `${raw.url}/v1` });
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
beforeEach(() => {
  raw.bodies.length = 0;
});

const newKey = async (): Promise<string> => await createKey(gateway);
const head =
  '{"id":"a","model":"sandbox-chat-1","usage":{"prompt_tokens":1,"completion_tokens":1},"choices":[{"message":{"content":"';
const tail = '"}}]}';
/** Answers with as many bytes as the prompt says. */
const answerBySize = (): void => {
  raw.handle = (_req, res, body) => {
    res.on('error', () => {});
    const bytes = Number(JSON.parse(body.toString()).messages[0].content);
    res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'u', 'content-length': bytes });
    res.end(`${head}${'x'.repeat(bytes - head.length - tail.length)}${tail}`);
  };
};
/** Sends a request for an answer of this size. Resolves with the head of the answer, whose body is not read. */
const ask = async (key: string, bytes: number): Promise<IncomingMessage> => {
  const req = httpRequest(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  req.end(JSON.stringify({ model: 'svc-chat', messages: [{ role: 'user', content: String(bytes) }] }));
  const [res] = await once(req, 'response');
  return res;
};
const readAll = async (res: IncomingMessage): Promise<number> => {
  let bytes = 0;
  for await (const piece of res) bytes += piece.length;
  return bytes;
};

test("a large answer waits for its account's memory, and delays no other account", async () => {
  answerBySize();
  const [slow, other] = await Promise.all([newKey(), newKey()]);
  const first = await ask(slow, LARGE);
  expect(first.statusCode).toBe(200);
  let isSecondHere = false;
  const second = ask(slow, LARGE).then((res) => {
    isSecondHere = true;
    return res;
  });
  await waitFor(() => raw.bodies.length === 2);
  const started = performance.now();
  const third = await ask(other, LARGE);
  expect([third.statusCode, (await readAll(third)) > LARGE]).toEqual([200, true]);
  const tiny = await ask(slow, 100_000);
  expect([tiny.statusCode, (await readAll(tiny)) > 100_000]).toEqual([200, true]);
  expect(performance.now() - started).toBeLessThan(8_000);
  expect(isSecondHere).toBe(false);
  await readAll(first);
  const answer = await second;
  expect([answer.statusCode, (await readAll(answer)) > LARGE]).toEqual([200, true]);
  expect(raw.bodies).toHaveLength(4);
});

test('a request of an account whose answers queue for memory gets 503 before it is forwarded', async () => {
  answerBySize();
  const answerNow = raw.handle;
  const [slow, other] = await Promise.all([newKey(), newKey()]);
  const first = await ask(slow, LARGE);
  // No answer takes memory before all requests are forwarded. One of them may get the memory of the first.
  const answers: (() => void)[] = [];
  raw.handle = (...request) => void answers.push(() => answerNow(...request));
  const waiting = Array.from({ length: WAITING_MAX + 1 }, () => ask(slow, LARGE).catch(() => undefined));
  await waitFor(() => answers.length === WAITING_MAX + 1);
  raw.handle = answerNow;
  for (const answer of answers) answer();
  // Once the provider has sent what the sockets hold. Until then, an answer waits with the others.
  const refusal = async () => await Promise.race([ask(slow, 1_000), sleep(500)]);
  await waitFor(async () => (await refusal())?.statusCode === 503);
  const forwarded = raw.bodies.length;
  const refused = await ask(slow, 1_000);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '2']);
  await readAll(refused);
  expect(raw.bodies).toHaveLength(forwarded);
  const served = await ask(other, 100_000);
  expect(served.statusCode).toBe(200);
  await readAll(served);
  first.destroy();
  for (const answer of waiting) (await answer)?.destroy();
}, 60_000);
