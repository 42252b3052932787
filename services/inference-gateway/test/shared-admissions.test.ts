import { setTimeout as sleep } from 'node:timers/promises';
import { type AdmissionRequest, admissionChannel, newId, readAdmissionsCall } from '@svc/contracts';
import {
  AppError,
  type ChannelCall,
  createLineChannel,
  createLogger,
  createMetrics,
  type LineChannel,
  type Listener,
  listen,
} from '@svc/service-kit';
import { internalCredential, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BillingClient, createBillingClient } from '../src/billing/index.ts';

const TOKEN = internalCredential('inference-gateway');
const logger = createLogger({ service: 'inference-gateway', level: 'silent' });

/** One call as billing gets it, unanswered until the test answers it. */
interface Call {
  readonly ids: (string | undefined)[];
  /** Writes lines; the call is over with the last one. */
  readonly write: (lines: string) => void;
  readonly fail: (error: Error) => void;
}

const calls: Call[] = [];
let channel: LineChannel;
let server: Listener;
let billing: BillingClient;

const take = (call: ChannelCall<ReturnType<typeof readAdmissionsCall>>): Promise<void> =>
  new Promise((resolve, reject) => {
    const ids = call.question.admissions.map((request) => request?.request_id);
    let left = ids.length;
    const write = (lines: string): void => {
      call.write(lines);
      left -= lines.split('\n').length - 1;
      if (left <= 0) resolve();
    };
    calls.push({ ids, write, fail: reject });
  });

const start = async (admissionTimeoutMs = 10_000): Promise<void> => {
  billing = createBillingClient({ baseUrl: server.url, token: TOKEN, admissionTimeoutMs, logger });
};

beforeEach(async () => {
  calls.length = 0;
  const metrics = createMetrics('billing', { isOfProcess: false });
  const parts = { ...admissionChannel, readQuestion: readAdmissionsCall, tokens: [TOKEN], logger, metrics };
  channel = createLineChannel({ ...parts, answer: take });
  server = await listen((_req, res) => res.writeHead(404).end(), { host: '127.0.0.1', port: 0, channel });
  await start();
});
afterEach(async () => {
  billing.close();
  await server.drain(0);
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
    const { ids, write } = await call(0);
    expect(ids).toEqual([first?.id, second?.id, third?.id]);
    write(`${line(2, 'insufficient_balance')}${line(0)}${line(1, 'rate_limit_exceeded')}`);
    expect(await first?.answer).toEqual({ verdict: 'admitted' });
    expect(await second?.answer).toEqual({ verdict: 'rate_limit_exceeded' });
    expect(await third?.answer).toEqual({ verdict: 'insufficient_balance' });
  });

  test('are sent in calls of bounded size', async () => {
    const asked = together(150);
    for (const place of [0, 1, 2]) {
      const { ids, write } = await call(place);
      expect(ids.length).toBeLessThanOrEqual(64);
      write(ids.map((_id, at) => line(at)).join(''));
    }
    for (const { answer } of asked) expect(await answer).toEqual({ verdict: 'admitted' });
  });

  test('one that takes long holds up neither its neighbours nor whoever comes later', async () => {
    const [slow, neighbour] = together(2);
    const stuck = await call(0);
    stuck.write(line(1));
    expect(await neighbour?.answer).toEqual({ verdict: 'admitted' });
    // More calls than may be under way at once, each with a decision that does not come.
    for (const place of [1, 2, 3]) {
      together(2);
      await call(place);
    }
    const [later] = together(1);
    (await call(4)).write(line(0));
    expect(await later?.answer).toEqual({ verdict: 'admitted' });
    stuck.write(line(0));
    expect(await slow?.answer).toEqual({ verdict: 'admitted' });
  });
});

describe('an admission without a decision is refused as unavailable, and only that one', () => {
  test.each<[string, (call: Call) => void]>([
    ['billing says so', ({ write }) => write(`{"place":0,"error":"internal_error"}\n${line(1)}`)],
    ['billing says it of another place', ({ write }) => write(`${line(1)}${line(1)}`)],
    ['the line is no decision', ({ write }) => write(`${line(1)}{"place":0,"admission":{"verdict":"yes"}}\n`)],
    ['the call fails behind a decision', ({ write }) => write(`${line(1)}{"error":"internal_error"}\n`)],
    ['the connection breaks', ({ write }) => breakOff(() => write(line(1)))],
    ['the line breaks off', ({ write }) => breakOff(() => write(`${line(1)}{"place":0,"admission":`))],
  ])('%s', async (_name, answer) => {
    const [first, second] = together(2);
    answer(await call(0));
    expect(await first?.answer).toBe('service_unavailable');
    expect(await second?.answer).toEqual({ verdict: 'admitted' });
  });

  const breakOff = (write: () => void): void => {
    write();
    void sleep(20).then(channel.cutOff);
  };

  test('billing does not decide in time', async () => {
    billing.close();
    await start(50);
    const [first] = together(1);
    expect(await first?.answer).toBe('service_unavailable');
  });

  test('the call fails, and the next one does not', async () => {
    const asked = together(2);
    (await call(0)).fail(new AppError('service_unavailable'));
    for (const { answer } of asked) expect(await answer).toBe('service_unavailable');
    const [next] = together(1);
    (await call(1)).write(line(0));
    expect(await next?.answer).toEqual({ verdict: 'admitted' });
  });
});

test('admissions are asked for one by one where billing is of a release that opens no channel', async () => {
  await server.drain(0);
  const alone: string[] = [];
  server = await listen(
    async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk);
      if (req.url !== '/internal/admissions') return void res.writeHead(404).end('{"detail":{"code":"not_found"}}');
      alone.push(JSON.parse(Buffer.concat(chunks).toString()).request_id);
      res.end('{"verdict":"admitted"}');
    },
    { host: '127.0.0.1', port: 0 },
  );
  billing.close();
  await start();
  const asked = together(3);
  for (const { answer } of asked) expect(await answer).toEqual({ verdict: 'admitted' });
  expect(alone.toSorted()).toEqual(asked.map(({ id }) => id).toSorted());
});
