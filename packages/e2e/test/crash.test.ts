import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { call } from './support/api.ts';
import { chat, connect } from './support/partner.ts';
import { type Person, registerApp, signUp, subscribe } from './support/people.ts';
import { isSignedWith, startReceiver } from './support/receiver.ts';
import { readStackFile } from './support/stack.ts';

const CHATS = 50;
const KILL_AT = 15;
const SENDERS = 2;
const TRIES_MAX = 600;
const RETRY_AFTER_MS = 100;

/** Sends chats, two at a time, until `CHATS` were answered; what fails is tried anew, as a new request. */
const runChats = async (accessToken: string, onAnswered: (count: number) => void): Promise<string[]> => {
  const answered: string[] = [];
  let tries = 0;
  const send = async (): Promise<void> => {
    while (answered.length < CHATS && tries < TRIES_MAX) {
      tries += 1;
      const answer = await chat(accessToken, `Message ${tries}. [[delay_ms=20]]`).catch(() => undefined);
      if (answer?.status === 200) {
        answered.push(String(answer.headers.get('x-request-id')));
        onAnswered(answered.length);
        continue;
      }
      if (answer !== undefined && answer.status < 500) expect([429], answer.text).toContain(answer.status);
      await sleep(RETRY_AFTER_MS);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  return answered;
};

const processIdOf = async (name: string): Promise<number> =>
  (await readStackFile(inject('dataDir'))).processes[name]?.pid ?? 0;

/** A path that each service answers as soon as it is back. */
const probes: Record<string, string> = {
  auth: '/v1/console/session',
  billing: '/v1/subscriptions/plans',
  'inference-gateway': '/v1/integrations/inference/capabilities',
  'webhook-dispatcher': '/v1/integrations/apps/unknown/webhook',
};

/** Kills a service with SIGKILL, whatever it is doing. */
const killService = async (name: string): Promise<number> => {
  const pid = await processIdOf(name);
  expect(pid, name).toBeGreaterThan(0);
  process.kill(pid, 'SIGKILL');
  return pid;
};

interface ReservationRow {
  request_id: string;
  state: string;
  cost_micros: string | null;
  estimate_micros: string;
}

/** Billing's own record of a user's requests. */
const reservationsOf = async (user: Person): Promise<ReservationRow[]> => {
  const { database_urls: urls } = await readStackFile(inject('dataDir'));
  const client = new pg.Client({ connectionString: urls['billing'] ?? '' });
  await client.connect();
  const { rows } = await client.query<ReservationRow>(
    'SELECT request_id, state, cost_micros, estimate_micros FROM reservations WHERE svc_user_id = $1',
    [user.userId],
  );
  await client.end();
  return rows;
};

describe('a service killed in the middle of fifty chats', () => {
  for (const [service, probe] of Object.entries(probes)) {
    it(`${service}: nothing is lost and nothing counted twice once it is back`, { timeout: 150_000 }, async () => {
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
      const usage = async () => (await call('GET', '/v1/integrations/usage', { token: accessToken })).body;

      let killed: Promise<number> | undefined;
      const answered = await runChats(accessToken, (count) => {
        if (count >= KILL_AT) killed ??= killService(service);
      });
      expect(answered.length).toBeGreaterThanOrEqual(CHATS);
      await expect.poll(() => processIdOf(service), { timeout: 30_000 }).not.toBe(await killed);
      await expect.poll(async () => (await call('GET', probe)).status, { timeout: 30_000 }).toBeLessThan(500);
      await expect.poll(async () => (await usage()).pending_requests, { timeout: 30_000 }).toBe(0);

      const isOpen = (row: ReservationRow) => row.state === 'reserved';
      await expect.poll(async () => (await reservationsOf(user)).filter(isOpen), { timeout: 30_000 }).toEqual([]);
      const isTold = (row: ReservationRow) => answered.includes(row.request_id);
      // A fact that died with its consumer comes again after the acknowledgement's wait, and settles what is uncertain by then.
      const unsettled = async () =>
        (await reservationsOf(user)).filter((row) => isTold(row) && row.state !== 'settled');
      await expect.poll(unsettled, { timeout: 40_000 }).toEqual([]);
      const rows = await reservationsOf(user);
      const told = rows.filter(isTold);
      expect(told.length).toBe(answered.length);
      // Only what was under way in the gateway when it died can be unknown, and stands at its estimate.
      const unknown = rows.filter((row) => row.state === 'uncertain');
      expect(unknown.length).toBeLessThanOrEqual(service === 'inference-gateway' ? SENDERS : 0);
      const counted = rows.map((row) =>
        Number(row.state === 'uncertain' ? row.estimate_micros : (row.cost_micros ?? 0)),
      );
      expect(Number((await usage()).weekly.used_micros)).toBe(counted.reduce((sum, micros) => sum + micros, 0));

      const connected = await receiver.waitForEvent('integration.connected', user.userId);
      expect(isSignedWith(connected, String(webhook.signing_secret))).toBe(true);
      await receiver.waitForEvent('subscription.updated', user.userId);
      const sequences = [...new Set(receiver.deliveries.map((each) => each.event.sequence))];
      expect(sequences).toEqual(sequences.map((_, index) => index + 1));
      await receiver.close();
    });
  }
});
