import { type AdmissionRequest, newId } from '@svc/contracts';
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

const question = (): AdmissionRequest => ({
  kind: 'api_key',
  request_id: newId('req'),
  svc_user_id: newId('usr'),
  key_id: newId('key'),
  hold_micros: 1,
  requests_per_minute: null,
  monthly_limit_micros: null,
});
const unavailable = { code: 'service_unavailable' };

test('returns each request its own decision', async () => {
  billing.decide = (request) => ({
    verdict: request.request_id === refused.request_id ? 'insufficient_balance' : 'admitted',
  });
  const questions = Array.from({ length: 200 }, question);
  const refused = questions[7] ?? question();
  const verdicts = (await Promise.all(questions.map(client.admit))).map(({ verdict }) => verdict);
  expect(verdicts.indexOf('insufficient_balance')).toBe(7);
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

test('throws service_unavailable on timeout', async () => {
  billing.hold = () => new Promise(() => undefined);
  const hasty = open(50);
  await expect(hasty.admit(question())).rejects.toMatchObject(unavailable);
  await hasty.close();
});

test.each([
  ['breaks the connection', 0],
  ['answers 500', 500],
  ['refuses our credential', 401],
])('throws service_unavailable if billing %s, and recovers with it', async (_fault, outage) => {
  billing.outage = outage;
  await expect(client.admit(question())).rejects.toMatchObject(unavailable);
  await expect(client.entitlements(newId('usr'), newId('req'))).rejects.toMatchObject(unavailable);
  await expect(client.keyStanding(standing(), { userId: newId('usr'), requestId: newId('req') })).rejects.toMatchObject(
    unavailable,
  );
  billing.outage = undefined;
  expect(await client.admit(question())).toEqual({ verdict: 'admitted' });
});

test('treats a key as admitted if billing lacks the route', async () => {
  billing.outage = 404;
  const answer = await client.keyStanding(standing(), { userId: newId('usr'), requestId: newId('req') });
  expect(answer).toEqual({ verdict: 'admitted' });
});

test('returns false if billing never confirms an outcome', async () => {
  const held = Promise.withResolvers<void>();
  billing.holdSettlement = () => held.promise;
  expect(await client.settle(newId('req'), { outcome: 'released' })).toBe(false);
  held.resolve();
});

const standing = () => ({ key_id: newId('key'), requests_per_minute: null, monthly_limit_micros: null });
