import { type DelegatedAdmissionRequest, newId } from '@svc/contracts';
import { createLogger } from '@svc/service-kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BillingClient, createBillingClient } from '../src/billing-client.ts';
import { type BillingStandIn, startBilling, TOKEN } from './support/billing-stand-in.ts';

const logger = createLogger({ service: 'inference-gateway', level: 'silent' });
let billing: BillingStandIn;
let client: BillingClient;

const open = (admissionTimeoutMs = 10_000): BillingClient =>
  createBillingClient({ baseUrl: billing.url, token: TOKEN, admissionTimeoutMs, logger });
beforeEach(async () => {
  billing = await startBilling();
  client = open();
});
afterEach(async () => {
  await client.close();
  await billing.stop();
});

const question = (): DelegatedAdmissionRequest => ({
  request_id: newId('req'),
  svc_user_id: newId('usr'),
  client_id: newId('app'),
  service: 'chat',
  estimate_micros: 1,
});
const unavailable = { code: 'service_unavailable' };

test('returns each request its own decision', async () => {
  billing.decide = (request) => ({
    verdict: request.request_id === refused.request_id ? 'weekly_limit_exceeded' : 'admitted',
  });
  const questions = Array.from({ length: 200 }, question);
  const refused = questions[7] ?? question();
  const verdicts = (await Promise.all(questions.map(client.admit))).map(({ verdict }) => verdict);
  expect(verdicts.indexOf('weekly_limit_exceeded')).toBe(7);
  expect(verdicts.filter((verdict) => verdict === 'admitted')).toHaveLength(199);
});

test('does not delay other requests while billing is slow to decide one', async () => {
  const slow = Promise.withResolvers<void>();
  billing.hold = () => slow.promise;
  const waiting = client.admit(question());
  await expect.poll(() => billing.waiting).toBe(1);
  billing.hold = undefined;
  expect(await client.admit(question())).toEqual({ verdict: 'admitted' });
  slow.resolve();
  expect(await waiting).toEqual({ verdict: 'admitted' });
});

test('asks again about a request that billing left undecided, until its deadline', async () => {
  billing.undecidedCount = 3;
  expect(await client.admit(question())).toEqual({ verdict: 'admitted' });
  expect([billing.undecidedCount, billing.admissions.length]).toEqual([0, 1]);
  billing.undecidedCount = Number.POSITIVE_INFINITY;
  const hasty = open(50);
  await expect(hasty.admit(question())).rejects.toMatchObject(unavailable);
  await hasty.close();
});

test('throws service_unavailable on timeout', async () => {
  billing.hold = () => new Promise(() => undefined);
  const hasty = open(50);
  await expect(hasty.admit(question())).rejects.toMatchObject(unavailable);
  await hasty.close();
});

test('refuses every waiting admission at its deadline while billing hangs', async () => {
  billing.hold = () => new Promise(() => undefined);
  const hasty = open(100);
  const refused = Array.from({ length: 2_000 }, () => hasty.admit(question()).catch(({ code }) => code));
  expect(new Set(await Promise.all(refused))).toEqual(new Set(['service_unavailable']));
  // Four batches of 64 run at once. Those that start when the first ones time out are the last.
  expect(billing.waiting).toBeLessThanOrEqual(2 * 4 * 64);
  await hasty.close();
});

test('keeps room for other accounts while one account floods', async () => {
  const flooding = newId('usr');
  const held = Promise.withResolvers<void>();
  billing.hold = () => held.promise;
  const flood = Array.from({ length: 6_000 }, () =>
    client.admit({ ...question(), svc_user_id: flooding }).then(
      ({ verdict }) => verdict,
      ({ code }) => code,
    ),
  );
  billing.hold = undefined;
  expect(await client.admit(question())).toEqual({ verdict: 'admitted' });
  held.resolve();
  expect((await Promise.all(flood)).filter((verdict) => verdict === 'admitted')).toHaveLength(500);
});

test.each([
  ['breaks the connection', 0],
  ['answers 500', 500],
  ['refuses our credential', 401],
])('throws service_unavailable if billing %s, and recovers with it', async (_fault, outage) => {
  billing.outage = outage;
  await expect(client.admit(question())).rejects.toMatchObject(unavailable);
  await expect(client.entitlements(newId('usr'), newId('req'))).rejects.toMatchObject(unavailable);
  billing.outage = undefined;
  expect(await client.admit(question())).toEqual({ verdict: 'admitted' });
});

test('returns false if billing never confirms an outcome', async () => {
  const held = Promise.withResolvers<void>();
  billing.holdSettlement = () => held.promise;
  expect(
    await client.settle({ request_id: newId('req'), svc_user_id: newId('usr'), result: { outcome: 'released' } }),
  ).toBe(false);
  held.resolve();
});
