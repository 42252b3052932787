import { setTimeout as sleep } from 'node:timers/promises';
import { readStackFile } from '@svc/testing';
import { describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { chat, connect } from './support/partner.ts';
import { registerApp, signUp, subscribe } from './support/people.ts';
import { isSignedWith, startReceiver } from './support/receiver.ts';
import { killService, processIdOf, type ReservationRow, reservationsOf } from './support/services.ts';

const CHATS = 50;
const KILL_AT = 15;
const SENDERS = 2;
/** A user's two slots may be taken for about ten seconds after a gateway has died. */
const TRIES_OF_ONE_MAX = 40;
const RETRY_AFTER_MS = 100;
/** Constant, so that every chat costs the same. */
const MESSAGE = 'Say something about Lake Como. [[delay_ms=20]]';

/** Sends chats, two at a time per token, until the given number succeeded; failed ones are repeated as new requests. */
const runChats = async (
  accessTokens: readonly string[],
  chats: number,
  onAnswered: (count: number) => void,
): Promise<string[]> => {
  const answered: string[] = [];
  let tries = 0;
  const send = async (accessToken: string): Promise<void> => {
    while (answered.length < chats && tries < chats * TRIES_OF_ONE_MAX) {
      tries += 1;
      const answer = await chat(accessToken, MESSAGE).catch(() => undefined);
      if (answer?.status === 200) {
        answered.push(String(answer.headers.get('x-request-id')));
        onAnswered(answered.length);
        continue;
      }
      if (answer !== undefined && answer.status < 500) expect([429], answer.text).toContain(answer.status);
      await sleep(RETRY_AFTER_MS);
    }
  };
  await Promise.all(accessTokens.flatMap((token) => Array.from({ length: SENDERS }, () => send(token))));
  return answered;
};

/** A path per service that answers once the service is back. */
const probes: Record<string, string> = {
  auth: '/v1/console/session',
  billing: '/v1/subscriptions/plans',
  'inference-gateway': '/v1/integrations/inference/capabilities',
  'webhook-dispatcher': '/v1/integrations/apps/unknown/webhook',
};

describe('a service killed in the middle of fifty chats', () => {
  for (const [service, probe] of Object.entries(probes)) {
    test(`${service}: loses nothing and counts nothing twice after its restart`, { timeout: 150_000 }, async () => {
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
      const answered = await runChats([accessToken], CHATS, (count) => {
        if (count >= KILL_AT) killed ??= killService(service);
      });
      expect(answered.length).toBeGreaterThanOrEqual(CHATS);
      await expect.poll(() => processIdOf(service), { timeout: 30_000 }).not.toBe(await killed);
      await expect.poll(async () => (await call('GET', probe)).status, { timeout: 30_000 }).toBeLessThan(500);
      await expect.poll(async () => (await usage()).pending_requests, { timeout: 30_000 }).toBe(0);

      const isOpen = (row: ReservationRow) => row.state === 'reserved';
      await expect.poll(async () => (await reservationsOf(user)).filter(isOpen), { timeout: 30_000 }).toEqual([]);
      const isTold = (row: ReservationRow) => answered.includes(row.request_id);
      // An event whose consumer died is redelivered after the ack wait, and settles the uncertain requests.
      const unsettled = async () =>
        (await reservationsOf(user)).filter((row) => isTold(row) && row.state !== 'settled');
      await expect.poll(unsettled, { timeout: 40_000 }).toEqual([]);
      const rows = await reservationsOf(user);
      const told = rows.filter(isTold);
      expect(told.length).toBe(answered.length);
      // Only requests open in the gateway when it died can be uncertain; they stand at their estimate.
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

const KILLED = ['nats', 'billing', 'postgres', 'inference-gateway'] as const;
const USERS = 6;
const CHATS_OF_ALL = 200;
const SEED = 20_261_122;

/** Returns a seeded generator of numbers from 0 to 1 (Lehmer). */
const seeded = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

/** Counts the requests that the provider has billed. */
const billedByProvider = async (): Promise<number> => {
  const provider = (await readStackFile(inject('dataDir'))).processes['sandbox-provider']?.url ?? '';
  const counts: { billed: { requests: number } } = JSON.parse(await (await fetch(`${provider}/sandbox/counts`)).text());
  return counts.billed.requests;
};

test('settles what the provider counts, except uncertain requests, if gateway, billing, NATS and PostgreSQL are killed at seeded times', {
  timeout: 150_000,
}, async () => {
  const app = await registerApp(await signUp('business'));
  const users = await Promise.all(Array.from({ length: USERS }, () => signUp('personal')));
  const accessTokens = await Promise.all(
    users.map(async (user) => {
      await subscribe(user);
      return (await connect(user, app)).accessToken;
    }),
  );
  const before = await billedByProvider();
  const random = seeded(SEED);
  const moments = KILLED.map((_, part) => Math.floor(((part + random()) / KILLED.length) * CHATS_OF_ALL));
  let kills: Promise<unknown> = Promise.resolve();
  let due = 0;
  const answered = await runChats(accessTokens, CHATS_OF_ALL, (count) => {
    const name = KILLED[due];
    if (name === undefined || count < (moments[due] ?? 0)) return;
    due += 1;
    kills = kills.then(() => killService(name));
  });
  await kills;
  expect([answered.length >= CHATS_OF_ALL, due]).toEqual([true, KILLED.length]);

  const isAnswered = new Set(answered);
  const unended = async () =>
    (await reservationsOf(...users)).filter(
      ({ state, request_id: id }) => state === 'reserved' || (state === 'uncertain' && isAnswered.has(id)),
    );
  await expect.poll(unended, { timeout: 60_000 }).toEqual([]);
  const rows = await reservationsOf(...users);
  const settled = rows.filter((row) => row.state === 'settled' && Number(row.cost_micros) > 0);
  const uncertain = rows.filter((row) => row.state === 'uncertain');
  const billed = (await billedByProvider()) - before;
  // All cost the same, and every answered request is settled at that cost.
  expect(new Set(settled.map((row) => row.cost_micros)).size).toBe(1);
  expect(answered.filter((id) => !settled.some((row) => row.request_id === id))).toEqual([]);
  // A request billed by the provider is settled, or was open when a process died.
  expect(settled.length).toBeLessThanOrEqual(billed);
  expect(billed).toBeLessThanOrEqual(settled.length + uncertain.length);
  expect(uncertain.length).toBeLessThanOrEqual(KILLED.length * USERS * SENDERS);
  const counted = [...settled.map((row) => row.cost_micros), ...uncertain.map((row) => row.estimate_micros)];
  const used = await Promise.all(
    accessTokens.map(async (token) =>
      Number((await call('GET', '/v1/integrations/usage', { token })).body.weekly.used_micros),
    ),
  );
  expect(sum(used)).toBe(sum(counted));
});

const sum = (amounts: readonly (string | number | null)[]): number =>
  amounts.reduce<number>((total, amount) => total + Number(amount), 0);
