import { events, newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestBilling, testBilling } from './support/billing.ts';

const START = '2026-10-01T12:00:00.000Z';
const DAY = 86_400;
let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock(START));

const control = (id: string) => `/sandbox/payments/subscriptions/${id}`;
const advance = async (id: string, days: number) =>
  (await billing.call('POST', `${control(id)}/advance`, { json: { seconds: days * DAY } })).body;
const current = async (token: string) => (await billing.call('GET', '/v1/subscriptions', { token })).body.subscription;
const usage = async (token: string) => (await billing.call('GET', '/v1/subscriptions/usage', { token })).body;
/** Lists the published states of a subscription: status, and end of the period or of the subscription. */
const publishedOf = async (userId: string) => {
  const facts = await billing
    .db('outbox')
    .where({ aggregate: `subscription:${userId}` })
    .orderBy('seq')
    .select('subject', 'payload');
  return facts.map(({ subject, payload }) => [
    payload.status,
    subject === events.subscriptionEnded.subject ? payload.ended_at : payload.period.end,
  ]);
};
const on = (day: string) => `${day}T12:00:00.000Z`;

test('publishes each renewal passed by the clock of a subscription', async () => {
  const { userId, token, subscriptionId: id } = await billing.subscribe();
  await advance(id, 92);
  expect(await current(token)).toMatchObject({ current_period_end: on('2027-02-01'), revision: 4 });
  expect(await publishedOf(userId)).toEqual(
    ['2026-11-01', '2026-12-01', '2027-01-01', '2027-02-01'].map((day) => ['active', on(day)]),
  );
});

test('keeps windows, caps and other subscriptions on the real clock', async () => {
  const one = await billing.subscribe();
  const two = await billing.subscribe();
  const { requestId } = await billing.admit(one.userId);
  await billing.settle(requestId, { outcome: 'settled', cost_micros: 700 });
  const before = await usage(one.token);
  await advance(one.subscriptionId, 40);
  const after = await usage(one.token);
  expect([after.weekly, after.monthly]).toEqual([before.weekly, before.monthly]);
  expect(after.period).toEqual({ start: on('2026-11-01'), end: on('2026-12-01') });
  await billing.tick();
  expect(await current(two.token)).toMatchObject({ current_period_end: on('2026-11-01'), revision: 1 });
  expect((await billing.admit(one.userId)).answer.body.verdict).toBe('admitted');
});

test.each([
  ['canceled', 'declines_renewals'],
  ['unpaid', 'asks_to_confirm'],
])('admits during the retries of a failed renewal, and refuses once the subscription is %s', async (end, card) => {
  const { userId, token, subscriptionId: id } = await billing.subscribe();
  await billing.call('PATCH', control(id), { json: { card, when_unpaid: end } });
  await advance(id, 39);
  expect((await billing.admit(userId)).answer.body.verdict).toBe('admitted');
  await advance(id, 7);
  expect(await current(token)).toMatchObject({ status: end });
  expect((await billing.admit(userId)).answer.body.verdict).toBe('subscription_inactive');
  expect(await publishedOf(userId)).toEqual([
    ['active', on('2026-11-01')],
    ['past_due', on('2026-12-01')],
    [end, on('2026-11-16')],
  ]);
});

test('admits during a trial', async () => {
  const { userId, token, subscriptionId: id } = await billing.subscribe();
  await billing.call('POST', control(id), { json: { status: 'trialing' } });
  expect((await billing.admit(userId)).answer.body.verdict).toBe('admitted');
  await advance(id, 31);
  expect(await current(token)).toMatchObject({ status: 'active', current_period_start: on('2026-11-01') });
});

test('publishes each renewal once while the periodic work runs concurrently', async () => {
  const { userId, subscriptionId: id } = await billing.subscribe();
  await Promise.all([advance(id, 62), ...Array.from({ length: 4 }, () => billing.tick())]);
  await billing.tick();
  await advance(id, 1);
  const ends = (await publishedOf(userId)).map(([, end]) => end);
  expect(new Set(ends).size).toBe(ends.length);
  expect(ends.at(-1)).toBe(on('2027-01-01'));
});

test('redirects to the success URL with the session id added and every other byte unchanged', async () => {
  const token = await billing.tokens.consoleSession({ userId: newId('usr') });
  const json = { plan_id: 'basic', success_url: 'http://127.0.0.1:9/done?a=1#x', cancel_url: 'https://shop.example/' };
  const { body } = await billing.call('POST', '/v1/subscriptions/checkout', { token, json });
  const { pathname } = new URL(body.url);
  const paid = await billing.call('POST', `${pathname}/submit`, { form: { action: 'pay' } });
  expect(paid.headers.get('location')).toBe(`http://127.0.0.1:9/done?a=1&session_id=${body.session_id}#x`);
  expect(await current(token)).toMatchObject({ status: 'active' });
});

test('activates a plan that a promotion code makes cheaper, or free', async () => {
  for (const promotion_code of ['WELCOME20', 'FIRSTFREE']) {
    const token = await billing.tokens.consoleSession({ userId: newId('usr') });
    const urls = { success_url: 'https://shop.example/done', cancel_url: 'https://shop.example/' };
    const started = await billing.call('POST', '/v1/subscriptions/checkout', {
      token,
      json: { plan_id: 'basic', ...urls },
    });
    const { session_id } = started.body;
    const submit = `${new URL(started.body.url).pathname}/submit`;
    await billing.call('POST', submit, { form: { action: 'apply_code', promotion_code } });
    await billing.call('POST', submit, { form: { action: 'pay' } });
    const confirmed = await billing.call('POST', '/v1/subscriptions/checkout/confirm', { token, json: { session_id } });
    expect(confirmed.body.subscription).toMatchObject({ status: 'active', plan: { id: 'basic' } });
  }
});

test('opens the portal for customers only', async () => {
  const open = (token: string) =>
    billing.call('POST', '/v1/subscriptions/portal', { token, json: { return_url: 'https://shop.example/' } });
  const stranger = await open(await billing.tokens.consoleSession());
  expect([stranger.status, stranger.body.detail.code]).toEqual([409, 'billing_account_missing']);
  const { token, subscriptionId: id } = await billing.subscribe();
  const { pathname } = new URL((await open(token)).body.url);
  await billing.call('POST', `${pathname}/submit`, { form: { action: 'cancel' } });
  expect(await current(token)).toMatchObject({ id, cancel_at_period_end: true });
});

test('returns 404 for an unknown subscription', async () => {
  const unknown = await billing.call('POST', `${control(newId('sub'))}/advance`, { json: { seconds: 1 } });
  expect(unknown.status).toBe(404);
});
