import { setTimeout as sleep } from 'node:timers/promises';
import { readStackFile } from '@svc/testing';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { fundKey, type Person, type RegisteredApp, registerApp, signUp } from './support/people.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';

const STREAMS = 200;
/** Longer than a restart, shorter than the stack's grace period. */
const STREAM = '[[chunks=40]][[chunk_delay_ms=100]]';
const EVENT_INTERVAL_MS = 100;
const REQUEST_INTERVAL_MS = 50;

const services = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'] as const;

/** Opens a stream. Resolves at its first bytes with a function that reads the rest. */
const openStream = async (key: string): Promise<() => Promise<string>> => {
  const answer = await fetch(`${inject('baseUrl')}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-chat', stream: true, messages: [{ role: 'user', content: STREAM }] }),
  });
  expect(answer.status).toBe(200);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader?.read())?.value ?? '';
  return async () => {
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) return text;
      text += part.value;
    }
  };
};

/** Returns true for a complete stream: every chunk, the compliance metadata, the terminator. */
const isWhole = (text: string): boolean =>
  text.trimEnd().endsWith('data: [DONE]') && text.includes('"compliance_metadata"');

/** Repeats `work` until stopped, and returns the statuses. */
const steadily = (intervalMs: number, work: () => Promise<number>) => {
  const stopping = new AbortController();
  const statuses: Promise<number>[] = [];
  const running = (async () => {
    while (!stopping.signal.aborted) {
      // A broken connection counts as status 0; clients must not see any.
      statuses.push(work().catch(() => 0));
      await sleep(intervalMs);
    }
  })();
  return async (): Promise<number[]> => {
    stopping.abort();
    await running;
    return await Promise.all(statuses);
  };
};

const pidOf = async (service: string): Promise<number> =>
  (await readStackFile(inject('dataDir'))).processes[service]?.pid ?? 0;

describe('a service that is restarted under 200 open streams and steady webhooks', () => {
  let key: string;
  let business: Person;
  let app: RegisteredApp;
  let receiver: Receiver;

  beforeAll(async () => {
    key = await fundKey(await signUp('personal'));
    business = await signUp('business');
    app = await registerApp(business);
    receiver = await startReceiver();
    await call('PUT', `/v1/integrations/apps/${app.clientId}/webhook`, {
      token: business.token,
      body: { url: receiver.url },
    });
    return () => receiver.close();
  });

  test.for(services)(
    '%s: cuts off no stream, loses no event, and fails only with retryable statuses',
    { timeout: 180_000 },
    async (service) => {
      const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(key)));
      const accepted: string[] = [];
      const stopEvents = steadily(EVENT_INTERVAL_MS, async () => {
        const path = `/v1/integrations/apps/${app.clientId}/webhook/test`;
        const { status, body } = await call('POST', path, { token: business.token });
        if (status === 202) accepted.push(String(body.event_id));
        return status;
      });
      const stopRequests = steadily(REQUEST_INTERVAL_MS, async () => {
        const body = { model: 'svc-chat', messages: [{ role: 'user', content: 'Short.' }] };
        return (await call('POST', '/v1/chat/completions', { token: key, body })).status;
      });

      const before = await pidOf(service);
      process.kill(before, 'SIGTERM');
      const ended = await Promise.all(streams.map((readRest) => readRest()));
      expect(ended.filter((text) => !isWhole(text))).toEqual([]);
      await expect.poll(() => pidOf(service), { timeout: 60_000 }).not.toBe(before);
      const paths = ['/v1/console/session', '/v1/gateway/wallet', `/v1/integrations/apps/${app.clientId}/webhook`];
      const isBack = async () => {
        const answers = await Promise.all([
          call('GET', '/v1/models', { token: key }),
          ...paths.map((path) => call('GET', path, { token: business.token })),
        ]);
        return answers.every(({ status }) => status === 200);
      };
      await expect.poll(isBack, { timeout: 60_000 }).toBe(true);
      await sleep(EVENT_INTERVAL_MS * 5);

      const statuses = [...(await stopEvents()), ...(await stopRequests())];
      expect(new Set(statuses.filter((status) => ![200, 202, 503].includes(status)))).toEqual(new Set());
      expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(0);
      const received = () => new Set(receiver.deliveries.map(({ event }) => event.event_id));
      await expect.poll(() => accepted.filter((id) => !received().has(id)), { timeout: 60_000 }).toEqual([]);
      const sequences = [...new Set(receiver.deliveries.map(({ event }) => event.sequence))];
      expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    },
  );
});
