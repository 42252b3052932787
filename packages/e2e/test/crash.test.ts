import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { call } from './support/api.ts';
import { chat, connect } from './support/partner.ts';
import { registerApp, signUp, subscribe } from './support/people.ts';
import { isSignedWith, startReceiver } from './support/receiver.ts';
import { readStackFile } from './support/stack.ts';

const CHATS = 50;
const KILL_AT = 15;
const TRIES_MAX = 400;
const RETRY_AFTER_MS = 100;

interface RunResult {
  answered: string[];
  unanswered: number;
}

/** Sends chats one after the other until `CHATS` were answered; what fails is tried anew, as a new request. */
const runChats = async (accessToken: string, onAnswered: (count: number) => Promise<void>): Promise<RunResult> => {
  const answered: string[] = [];
  let unanswered = 0;
  for (let attempt = 0; answered.length < CHATS && attempt < TRIES_MAX; attempt += 1) {
    const answer = await chat(accessToken, `Message ${attempt}. [[delay_ms=10]]`).catch(() => undefined);
    if (answer?.status === 200) {
      answered.push(String(answer.headers.get('x-request-id')));
      await onAnswered(answered.length);
      continue;
    }
    if (answer === undefined || answer.status >= 500) unanswered += 1;
    else expect([401, 429], answer.text).toContain(answer.status);
    await sleep(RETRY_AFTER_MS);
  }
  return { answered, unanswered };
};

const costsOf = async (accessToken: string, requestIds: string[]): Promise<number[]> => {
  const costs: number[] = [];
  for (const id of requestIds) {
    const request = await call('GET', `/v1/integrations/usage/requests/${id}`, { token: accessToken });
    costs.push((request.body.state as unknown) === 'settled' ? Number(request.body.cost_micros) : Number.NaN);
  }
  return costs;
};

/** Kills a service with SIGKILL in the middle of a run and waits until another process has taken its place. */
const killService = async (name: string): Promise<void> => {
  const before = (await readStackFile(inject('dataDir'))).processes[name];
  expect(before, name).toBeDefined();
  process.kill(before?.pid ?? 0, 'SIGKILL');
  await expect
    .poll(async () => (await readStackFile(inject('dataDir'))).processes[name]?.pid, { timeout: 30_000 })
    .not.toBe(before?.pid);
};

describe('a service killed in the middle of fifty chats', () => {
  for (const service of ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher']) {
    it(`${service}: nothing is lost and nothing counted twice once it is back`, async () => {
      const receiver = await startReceiver();
      const business = await signUp('business');
      const app = await registerApp(business);
      const { body: webhook } = await call('PUT', `/v1/integrations/apps/${app.clientId}/webhook`, {
        token: business.token,
        body: { url: receiver.url },
      });
      const user = await signUp('personal');
      await subscribe(user);
      const { accessToken } = await connect(user, app);

      const { answered, unanswered } = await runChats(accessToken, async (count) => {
        if (count === KILL_AT) await killService(service);
      });
      expect(answered.length).toBe(CHATS);

      await expect
        .poll(async () => (await costsOf(accessToken, answered)).some(Number.isNaN), { timeout: 20_000 })
        .toBe(false);
      const costs = await costsOf(accessToken, answered);
      const sum = costs.reduce((total, cost) => total + cost, 0);
      const highest = Math.max(...costs);
      await expect
        .poll(async () => (await call('GET', '/v1/integrations/usage', { token: accessToken })).body.pending_requests, {
          timeout: 30_000,
        })
        .toBe(0);
      const usage = await call('GET', '/v1/integrations/usage', { token: accessToken });
      const used = Number(usage.body.weekly.used_micros);
      expect(used).toBeGreaterThanOrEqual(sum);
      // Only a request whose answer the gateway itself did not live to send may have cost something unseen.
      const unseen = service === 'inference-gateway' ? unanswered * highest : 0;
      expect(used).toBeLessThanOrEqual(sum + unseen);

      const connected = await receiver.waitForEvent('integration.connected', user.userId);
      expect(isSignedWith(connected, String(webhook.signing_secret))).toBe(true);
      const ids = receiver.deliveries.filter((each) => each.answered === 204).map((each) => each.event.event_id);
      expect(new Set(ids).size).toBe(ids.length);
      await receiver.close();
    });
  }
});
