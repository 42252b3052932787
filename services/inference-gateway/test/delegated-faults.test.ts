import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { provider, route, routesYaml, startGateway, type TestGateway } from './support/start-gateway.ts';

const PATH = '/v1/integrations/inference/chat/completions';
let raw: RawProvider;
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  raw = await startRawProvider();
  gateway = await startGateway({
    environment: {
      UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '600',
      UPSTREAM_IDLE_TIMEOUT_MS: '600',
      UPSTREAM_TOTAL_TIMEOUT_MS: '3000',
      CLIENT_IDLE_TIMEOUT_MS: '600',
    },
  });
  token = await gateway.tokens.accessToken();
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
afterEach(() => {
  gateway.billing.holdSettlement = undefined;
  gateway.billing.hold = undefined;
});

const ask = (content: string, more: object = {}) =>
  fetch(`${gateway.url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content }], ...more }),
  });
const json = async (answer: Response) => JSON.parse(await answer.text());
const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? '';
const recordOf = (requestId: string) =>
  waitFor(() => gateway.database.knex('usage_records').where({ request_id: requestId }).first());

/** Loads routes to these providers, in order of preference. */
const useRoutes = async (urls: Record<string, string>): Promise<void> => {
  const names = Object.keys(urls);
  const text = routesYaml({
    providers: names.map((name) => provider(name, urls[name] ?? '')),
    routes: names.map((name) => route(`route-${name}`, { provider: name, model: `model-${name}` })),
    chat: names.map((name) => `route-${name}`),
  });
  await writeFile(gateway.routesFile, text);
  expect(await gateway.reload()).toBe(true);
};
const useSandbox = () => useRoutes({ sandbox: `${gateway.provider.url}/v1` });
const useAudio = async () => {
  await writeFile(gateway.routesFile, gateway.routesText);
  expect(await gateway.reload()).toBe(true);
};
const useRaw = () => useRoutes({ raw: raw.url });
const CHUNK = '{"id":"x","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"model":"m"}';
const FINISH = '{"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"model":"m"}';
const USAGE = '{"id":"x","choices":[],"model":"m","usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}';

describe('definite failures release the reservation', () => {
  test.each([
    ['[[status=429]] [[retry_after=7]]', 503, 'upstream_unavailable'],
    ['[[status=503]] [[retry_after=7]]', 503, 'upstream_unavailable'],
    ['[[status=500]]', 502, 'upstream_error'],
    ['[[status=502]]', 502, 'upstream_error'],
    ['[[status=401]]', 502, 'upstream_error'],
    ['[[status=403]]', 502, 'upstream_error'],
    ['[[status=400]] [[retry_after=7]]', 400, 'upstream_rejected'],
    ['[[status=404]]', 400, 'upstream_rejected'],
    ['[[status=422]]', 400, 'upstream_rejected'],
  ])('%s', async (directive, status, code) => {
    await useSandbox();
    for (const stream of [false, true]) {
      const answer = await ask(directive, { stream });
      expect(answer.status).toBe(status);
      const text = await answer.text();
      expect(JSON.parse(text).detail.code).toBe(code);
      expect(text).not.toMatch(/sandbox|prompt asked/i);
      expect(answer.headers.get('retry-after')).toBe(status === 503 ? '7' : null);
      expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'released' });
    }
  });

  test('a refused connection', async () => {
    await useRoutes({ closed: `http://127.0.0.1:${await freePort()}` });
    const answer = await ask('Hello');
    expect([answer.status, (await json(answer)).detail.code]).toEqual([503, 'upstream_unavailable']);
    expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'released' });
  });

  test('the next route serves a request that the first one definitely did not', async () => {
    await useRoutes({ closed: `http://127.0.0.1:${await freePort()}`, sandbox: `${gateway.provider.url}/v1` });
    const answer = await ask('Hello');
    expect(answer.status).toBe(200);
    expect(await recordOf(idOf(answer))).toMatchObject({ route_id: 'route-sandbox', outcome: 'settled' });
  });

  const expectReleasedOrServedByNext = async () => {
    await useRaw();
    const answer = await ask('Hello');
    expect([answer.status, (await json(answer)).detail.code]).toEqual([502, 'upstream_error']);
    expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'released' });
    await useRoutes({ raw: raw.url, sandbox: `${gateway.provider.url}/v1` });
    expect((await ask('Hello')).status).toBe(200);
  };

  test.each([301, 302, 307, 308])('a %i redirect, which is not followed', async (status) => {
    raw.handle = (_req, res) => res.writeHead(status, { location: `${gateway.provider.url}/v1` }).end();
    await expectReleasedOrServedByNext();
  });

  test.each(['{"error":{"message":"overloaded"}}', '{"object":"error","message":"overloaded"}'])(
    'a 200 with an error body: %s',
    async (body) => {
      raw.handle = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(body);
      await expectReleasedOrServedByNext();
    },
  );

  test('a stream request that gets a 200 with a JSON error', async () => {
    raw.handle = (_req, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"error":{"message":"overloaded"}}');
    await useRaw();
    const answer = await ask('Hello', { stream: true });
    expect([answer.status, (await json(answer)).detail.code]).toEqual([502, 'upstream_error']);
    expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'released' });
  });

  test('an error event instead of the first chunk', async () => {
    raw.handle = (_req, res) => eventStream(res).end('data: {"error":{"message":"overloaded"}}\n\n');
    await useRaw();
    const answer = await ask('Hello', { stream: true });
    expect([answer.status, (await json(answer)).detail.code]).toEqual([502, 'upstream_error']);
    expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'released' });
  });
});

describe('uncertain failures are never retried', () => {
  const expectUncertain = async (answer: Response) => {
    expect([answer.status, (await json(answer)).detail.code]).toEqual([504, 'upstream_timeout_uncertain']);
    // Common SDKs retry every other 5xx.
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'uncertain' });
    const record = await recordOf(idOf(answer));
    expect(record.outcome).toBe('uncertain');
    const { estimate_micros } = gateway.billing.admissions.find(({ request_id }) => request_id === idOf(answer)) as {
      estimate_micros: number;
    };
    expect(record.cost_micros).toBe(estimate_micros);
  };

  test.each(['[[delay_ms=2000]]', '[[reset]]', '[[garbage]]', '[[drop_after=0]] [[chunks=3]]'])(
    '%s',
    async (directive) => {
      await useRoutes({ sandbox: `${gateway.provider.url}/v1`, second: `${gateway.provider.url}/v1` });
      gateway.provider.resetCounts();
      await expectUncertain(await ask(`Hello ${directive}`));
      expect(gateway.provider.counts().requests).toBe(1);
    },
  );

  test.each([
    ['a 5xx without an error body', 500, 'text/html', '<html>Bad gateway</html>'],
    ['a 200 that is not a completion', 200, 'application/json', '{"ok":true}'],
    ['a 200 without choices', 200, 'application/json', '{"choices":[]}'],
    ['a redirect to the result', 303, 'text/plain', ''],
  ])('%s', async (_name, status, type, body) => {
    raw.handle = (_req, res) => res.writeHead(status, { 'content-type': type, location: '/' }).end(body);
    await useRaw();
    await expectUncertain(await ask('Hello'));
  });

  test('a stream request that gets JSON', async () => {
    raw.handle = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    await useRaw();
    await expectUncertain(await ask('Hello', { stream: true }));
  });

  test.each([
    ['breaks off before its first event', ': ping\n\n', true],
    ['ends before its first event', ': ping\n\n', false],
    ['starts with [DONE]', 'data: [DONE]\n\n', false],
    ['starts with invalid JSON', 'data: {oops\n\n', false],
  ])('a stream that %s', async (_name, text, breaks) => {
    raw.handle = (_req, res) => {
      eventStream(res).write(text);
      if (breaks) setTimeout(() => res.destroy(), 20);
      else res.end();
    };
    await useRaw();
    await expectUncertain(await ask('Hello', { stream: true }));
  });
});

describe('a stream that breaks off', () => {
  test.each([['[[drop_after=2]]'], ['[[error_after=2]]'], ['[[chunk_delay_ms=1500]]']])(
    'ends with an error event and no [DONE]: %s',
    async (directive) => {
      await useSandbox();
      const answer = await ask(`Hello [[chunks=4]] ${directive}`, { stream: true });
      expect(answer.status).toBe(200);
      const text = await answer.text();
      const last = text.trimEnd().split('\n\n').at(-1) ?? '';
      expect(JSON.parse(last.slice('data: '.length)).error).toEqual({
        code: 'upstream_timeout_uncertain',
        message: expect.any(String),
      });
      expect(text).not.toMatch(/\[DONE\]|sandbox|prompt asked/i);
      expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'uncertain' });
    },
  );

  test('is settled if the provider reported its usage before', async () => {
    raw.handle = (_req, res) => {
      eventStream(res).write(`data: ${CHUNK}\n\ndata: ${USAGE}\n\n`);
      setTimeout(() => res.destroy(), 20);
    };
    await useRaw();
    const answer = await ask('Hello', { stream: true });
    await answer.text();
    expect(await recordOf(idOf(answer))).toMatchObject({ outcome: 'settled', input_tokens: 5, output_tokens: 7 });
  });

  const counted = (output: number, reason = 'null') => {
    const usage = `"usage":{"prompt_tokens":5,"completion_tokens":${output}}`;
    return `data: ${CHUNK.replace('null}]', `${reason}}],${usage}`)}\n\n`;
  };
  test.each([
    ['a running count', counted(1) + counted(2), 'uncertain'],
    ['a running count up to the finish reason', counted(1) + counted(2, '"stop"'), 'settled'],
    ['a count followed by more output', `data: ${USAGE}\n\ndata: ${CHUNK}\n\n`, 'uncertain'],
  ])('after %s', async (_name, text, outcome) => {
    raw.handle = (_req, res) => {
      eventStream(res).write(text);
      setTimeout(() => res.destroy(), 20);
    };
    await useRaw();
    const answer = await ask('Hello', { stream: true });
    expect((await answer.text()).includes('[DONE]')).toBe(outcome === 'settled');
    expect(await recordOf(idOf(answer))).toMatchObject({ outcome });
  });

  test('because of an endless event ends with an error event', async () => {
    raw.handle = (_req, res) => {
      eventStream(res).write(`data: ${CHUNK}\n\ndata: `);
      const piece = 'x'.repeat(256 * 1024);
      const timer = setInterval(() => res.write(piece), 1);
      res.on('close', () => clearInterval(timer));
    };
    await useRaw();
    const answer = await ask('Hello', { stream: true });
    expect(await answer.text()).toContain('upstream_timeout_uncertain');
  });
});

describe('unusual answers', () => {
  test('drops usage with counts that are not numbers, and estimates it', async () => {
    const usage = { prompt_tokens: 'EVIL', completion_tokens: -1, total_tokens: 7 };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
    raw.handle = (_req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ id: 'x', model: 'm', choices, usage }));
    await useRaw();
    const answer = await ask('Hello');
    expect((await json(answer)).usage).toBeUndefined();
    expect(await recordOf(idOf(answer))).toMatchObject({ outcome: 'settled', is_estimated: true });
  });
});

describe('accepts unusual streams', () => {
  test.each([
    [
      'CRLF, comments, [DONE] without a blank line',
      `: hi\r\n\r\ndata: ${CHUNK}\r\n\r\n: hi\r\n\r\ndata: ${FINISH}\r\n\r\ndata: [DONE]`,
    ],
    ['usage at the start', `data: ${USAGE}\n\ndata: ${CHUNK}\n\ndata: ${FINISH}\n\ndata: [DONE]\n\n`],
    [
      'usage in a chunk with choices',
      `data: ${CHUNK}\n\ndata: ${FINISH.replace('}],', '}],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12},')}\n\ndata: [DONE]\n\n`,
    ],
    [
      'several data lines',
      `data: ${CHUNK.replace(',"model"', '\ndata: ,"model"')}\n\ndata: ${FINISH}\n\ndata: [DONE]\n\n`,
    ],
  ])('%s', async (_name, text) => {
    raw.handle = (_req, res) => eventStream(res).end(text);
    await useRaw();
    const answer = await ask('Hello', { stream: true });
    const seen = await answer.text();
    expect(seen).toContain('"content":"Hi"');
    expect(seen).not.toMatch(/usage|hi\n/);
    expect(seen.endsWith('data: [DONE]\n\n')).toBe(true);
    expect((await recordOf(idOf(answer))).outcome).toBe('settled');
  });

  test('that never end after [DONE], without delaying the caller', async () => {
    raw.handle = (_req, res) => eventStream(res).write(`data: ${CHUNK}\n\ndata: ${FINISH}\n\ndata: [DONE]\n\n`);
    await useRaw();
    const answer = await ask('Hello', { stream: true });
    expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

describe('settlement', () => {
  test('does not keep back the last byte if billing never confirms it', async () => {
    await useSandbox();
    const held = Promise.withResolvers<void>();
    gateway.billing.holdSettlement = () => held.promise;
    const answer = await ask('Hello', { stream: true });
    expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect((await recordOf(idOf(answer))).outcome).toBe('settled');
    held.resolve();
  });
});

describe('a caller', () => {
  const open = async (content: string) => {
    const req = httpRequest(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    req.on('error', () => {});
    req.end(JSON.stringify({ stream: true, messages: [{ role: 'user', content }] }));
    const [res] = await once(req, 'response');
    return { req, res, id: String(res.headers['x-request-id']) };
  };

  test('that disconnects during a stream is charged: the provider is read to its end', async () => {
    await useSandbox();
    const { req, res, id } = await open('Hello [[chunks=10]] [[chunk_delay_ms=30]] [[completion_tokens=321]]');
    await once(res, 'data');
    req.destroy();
    expect(await recordOf(id)).toMatchObject({ outcome: 'settled', output_tokens: 321 });
    // The record is written and billing called concurrently, in any order.
    await waitFor(() => gateway.billing.states.get(id) === 'settled');
  });

  test('that disconnects before the answer starts is charged', async () => {
    await useSandbox();
    const before = gateway.provider.counts().requests;
    const controller = new AbortController();
    const answer = fetch(`${gateway.url}${PATH}`, {
      method: 'POST',
      signal: controller.signal,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello [[delay_ms=200]]' }] }),
    });
    await waitFor(() => gateway.provider.counts().requests > before);
    controller.abort();
    await expect(answer).rejects.toThrow();
    const id = gateway.billing.admissions.at(-1)?.request_id ?? '';
    expect((await recordOf(id)).outcome).toBe('settled');
  });

  test('that disconnects during admission is released, and nothing is forwarded', async () => {
    await useSandbox();
    const served = gateway.provider.counts().requests;
    const admitted = gateway.billing.admissions.length;
    const left = () => gateway.logs().split('"status":499').length;
    const leftBefore = left();
    const admission = Promise.withResolvers<void>();
    const decision = Promise.withResolvers<void>();
    gateway.billing.hold = () => {
      admission.resolve();
      return decision.promise;
    };
    const controller = new AbortController();
    const answer = fetch(`${gateway.url}${PATH}`, {
      method: 'POST',
      signal: controller.signal,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await admission.promise;
    controller.abort();
    await expect(answer).rejects.toThrow();
    await waitFor(() => left() > leftBefore);
    decision.resolve();
    gateway.billing.hold = undefined;
    await waitFor(() => gateway.billing.admissions.length > admitted);
    const id = gateway.billing.admissions.at(-1)?.request_id ?? '';
    expect(await recordOf(id)).toMatchObject({ outcome: 'released', status: 499 });
    await waitFor(() => gateway.billing.states.get(id) === 'released');
    expect(gateway.provider.counts().requests).toBe(served);
  });

  test('that stops reading exerts backpressure on the provider, and is disconnected in time', async () => {
    let written = 0;
    raw.handle = (_req, res) => {
      eventStream(res);
      const chunk = `data: ${CHUNK.replace('Hi', 'x'.repeat(60_000))}\n\n`;
      const pump = (): void => {
        if (written > 200_000_000 || res.destroyed) return void res.end(`data: ${FINISH}\n\ndata: [DONE]\n\n`);
        written += chunk.length;
        if (res.write(chunk)) setImmediate(pump);
        else res.once('drain', pump);
      };
      pump();
    };
    await useRaw();
    const { res, req, id } = await open('Hello');
    res.pause();
    await sleep(400);
    expect(written).toBeLessThan(30_000_000);
    // The caller is disconnected by now, and the provider's answer is read until its timeout.
    expect(await recordOf(id)).toMatchObject({ status: 200 });
    req.destroy();
  });

  test('that stops uploading gets 408 and is released, and the provider serves nothing', async () => {
    await useAudio();
    gateway.provider.resetCounts();
    const admitted = gateway.billing.admissions.length;
    const upload = httpRequest(`${gateway.url}/v1/integrations/inference/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=B' },
    });
    upload.write('--B\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nID3');
    const [answer] = await once(upload, 'response');
    upload.on('error', () => {});
    expect([answer.statusCode, answer.headers.connection]).toEqual([408, 'close']);
    expect(JSON.parse(String(Buffer.concat(await answer.toArray()))).detail.code).toBe('request_timeout');
    const id = gateway.billing.admissions[admitted]?.request_id ?? '';
    await waitFor(() => gateway.billing.outcomes.get(id)?.outcome === 'released');
    expect(gateway.provider.counts().billed.requests).toBe(0);
  });
});
