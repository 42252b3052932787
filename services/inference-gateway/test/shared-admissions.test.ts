import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AdmissionRequest, newId } from '@svc/contracts';
import { createLogger } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BillingClient, createBillingClient } from '../src/billing-client.ts';

/** One call as billing gets it, unanswered until the test answers it. */
interface Call {
  readonly ids: string[];
  readonly res: ServerResponse;
}

const calls: Call[] = [];
const server = createServer(async (req, res) => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString());
  const admissions: AdmissionRequest[] = body.admissions ?? [body];
  calls.push({ ids: admissions.map(({ request_id }) => request_id), res });
});
let billing: BillingClient;
beforeEach(async () => {
  calls.length = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  billing = createBillingClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'a-service-credential-for-tests',
    admissionTimeoutMs: 10_000,
    logger: createLogger({ service: 'inference-gateway', level: 'silent' }),
  });
});
afterEach(async () => {
  await billing.close();
  server.close();
  server.closeAllConnections();
});

const admit = () => {
  const id = newId('req');
  const question: AdmissionRequest = {
    kind: 'api_key',
    request_id: id,
    svc_user_id: newId('usr'),
    key_id: newId('key'),
    hold_micros: 1,
    requests_per_minute: null,
    monthly_limit_micros: null,
  };
  return { id, answer: billing.admit(question).catch((error: { code: string }) => error.code) };
};
const together = (count: number) => Array.from({ length: count }, admit);
const call = (place: number) => waitFor(() => calls[place]);
const line = (place: number, verdict = 'admitted') => `${JSON.stringify({ place, admission: { verdict } })}\n`;

describe('admissions that come together', () => {
  test('share a call, and each has its own decision', async () => {
    const [first, second, third] = together(3);
    const { ids, res } = await call(0);
    expect(ids).toEqual([first?.id, second?.id, third?.id]);
    res.end(`${line(2, 'insufficient_balance')}${line(0)}${line(1, 'rate_limit_exceeded')}`);
    expect(await first?.answer).toEqual({ verdict: 'admitted' });
    expect(await second?.answer).toEqual({ verdict: 'rate_limit_exceeded' });
    expect(await third?.answer).toEqual({ verdict: 'insufficient_balance' });
  });

  test('are asked one by one where billing is of a release that knows no other way', async () => {
    const asked = together(3);
    const shared = await call(0);
    shared.res.writeHead(404).end('{"detail":{"code":"not_found","message":"There is no such resource."}}');
    for (const place of [1, 2, 3]) {
      const alone = await call(place);
      expect(alone.ids).toHaveLength(1);
      alone.res.end('{"verdict":"admitted"}');
    }
    for (const { answer } of asked) expect(await answer).toEqual({ verdict: 'admitted' });
  });

  test('are sent in calls of bounded size', async () => {
    const asked = together(150);
    for (const place of [0, 1, 2]) {
      const { ids, res } = await call(place);
      expect(ids.length).toBeLessThanOrEqual(64);
      res.end(ids.map((_id, at) => line(at)).join(''));
    }
    for (const { answer } of asked) expect(await answer).toEqual({ verdict: 'admitted' });
  });

  test('one that takes long holds up neither its neighbours nor whoever comes later', async () => {
    const [slow, neighbour] = together(2);
    const stuck = await call(0);
    stuck.res.write(line(1));
    expect(await neighbour?.answer).toEqual({ verdict: 'admitted' });
    // More calls than may be under way at once, each with a decision that does not come.
    for (const place of [1, 2, 3]) {
      together(2);
      await call(place);
    }
    const [later] = together(1);
    (await call(4)).res.end('{"verdict":"admitted"}');
    expect(await later?.answer).toEqual({ verdict: 'admitted' });
    stuck.res.end(line(0));
    expect(await slow?.answer).toEqual({ verdict: 'admitted' });
  });
});

describe('an admission without a decision is refused as unavailable, and only that one', () => {
  test.each<[string, (res: ServerResponse) => void]>([
    ['billing says so', (res) => res.end(`{"place":0,"error":"internal_error"}\n${line(1)}`)],
    ['billing says nothing', (res) => res.end(line(1))],
    ['the line breaks off', (res) => res.end(`${line(1)}{"place":0,"admission":{"verdict":"admitted"}}`)],
    ['the line is no decision', (res) => res.end(`${line(1)}{"place":0,"admission":{"verdict":"yes"}}\n`)],
    ['the connection breaks', (res) => res.write(line(1), () => setImmediate(() => res.destroy()))],
  ])('%s', async (_name, answer) => {
    const [first, second] = together(2);
    answer((await call(0)).res);
    expect(await first?.answer).toBe('service_unavailable');
    expect(await second?.answer).toEqual({ verdict: 'admitted' });
  });

  test('the call fails', async () => {
    const asked = together(2);
    (await call(0)).res.writeHead(503).end();
    for (const { answer } of asked) expect(await answer).toBe('service_unavailable');
  });
});
