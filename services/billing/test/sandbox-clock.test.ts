import { events, newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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
const set = async (id: string, json: object) => (await billing.call('PATCH', control(id), { json })).body;
const play = (id: string, status: string) => billing.call('POST', control(id), { json: { status } });
const current = async (token: string) => (await billing.call('GET', '/v1/subscriptions', { token })).body.subscription;
const usage = async (token: string) => (await billing.call('GET', '/v1/subscriptions/usage', { token })).body;
/** What was published of a subscription: state, and end of period or the time at which it ended. */
const told = async (userId: string) => {
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

describe('the clock of a sandbox subscription', () => {
  test('renews each period that it passes, one after the other, and billing publishes each', async () => {
    const { userId, token, subscriptionId: id } = await billing.subscribe();
    expect(await advance(id, 30)).toMatchObject({ status: 'active', clock: on('2026-10-31') });
    expect(await advance(id, 1)).toMatchObject({
      ...{ id, status: 'active', clock: on('2026-11-01'), card: 'succeeds', when_unpaid: 'canceled' },
      ...{ current_period_start: on('2026-11-01'), current_period_end: on('2026-12-01') },
      ...{ failed_attempts: 0, next_attempt_at: null },
    });
    await advance(id, 61);
    expect(await current(token)).toMatchObject({ current_period_end: on('2027-02-01'), revision: 4 });
    expect(await told(userId)).toEqual(
      ['2026-11-01', '2026-12-01', '2027-01-01', '2027-02-01'].map((day) => ['active', on(day)]),
    );
  });

  test('moves periods and status alone: windows, caps and every other subscription go by the real clock', async () => {
    const [one, two] = [await billing.subscribe(), await billing.subscribe()];
    const { requestId } = await billing.admit(one.userId);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 700 });
    const before = await usage(one.token);
    await advance(one.subscriptionId, 40);
    const after = await usage(one.token);
    expect([after.weekly, after.monthly]).toEqual([before.weekly, before.monthly]);
    expect(after.period).toEqual({ start: on('2026-11-01'), end: on('2026-12-01') });
    await billing.app.tickPayments();
    expect(await current(two.token)).toMatchObject({ current_period_end: on('2026-11-01'), revision: 1 });
    expect((await billing.admit(one.userId)).answer.body.verdict).toBe('admitted');
  });

  test.each([
    ['canceled', 'declines_renewals'],
    ['unpaid', 'asks_to_confirm'],
  ])('leads a failed renewal over its retries to %s', async (end, card) => {
    const { userId, token, subscriptionId: id } = await billing.subscribe();
    await set(id, { card, when_unpaid: end });
    expect(await advance(id, 31)).toMatchObject({
      ...{ status: 'past_due', failed_attempts: 1, next_attempt_at: on('2026-11-04') },
      ...{ current_period_start: on('2026-11-01'), current_period_end: on('2026-12-01') },
    });
    expect(await advance(id, 3)).toMatchObject({ failed_attempts: 2, next_attempt_at: on('2026-11-09') });
    expect(await advance(id, 5)).toMatchObject({ failed_attempts: 3, next_attempt_at: on('2026-11-16') });
    expect((await billing.admit(userId)).answer.body.verdict).toBe('admitted');
    expect(await advance(id, 7)).toMatchObject({ status: end, failed_attempts: 4, next_attempt_at: null });
    expect(await advance(id, 300)).toMatchObject({ status: end });
    expect(await current(token)).toMatchObject({ status: end });
    expect((await billing.admit(userId)).answer.body.verdict).toBe('subscription_inactive');
    expect(await told(userId)).toEqual([
      ['active', on('2026-11-01')],
      ['past_due', on('2026-12-01')],
      [end, on('2026-11-16')],
    ]);
  });

  test('recovers at the next retry with a card that pays, and renews from there', async () => {
    const { userId, subscriptionId: id } = await billing.subscribe();
    await set(id, { card: 'declines_renewals' });
    await advance(id, 35);
    await set(id, { card: 'succeeds' });
    expect(await advance(id, 4)).toMatchObject({ status: 'active', failed_attempts: 0 });
    expect((await told(userId)).at(-1)).toEqual(['active', on('2026-12-01')]);
    expect(await advance(id, 31)).toMatchObject({ status: 'active', current_period_end: on('2027-01-01') });
  });

  test('ends a subscription that was cancelled for the end of its period', async () => {
    const { userId, token, subscriptionId: id } = await billing.subscribe();
    const portal = await billing.call('POST', '/v1/subscriptions/portal', {
      token,
      json: { return_url: 'https://shop.example/' },
    });
    await billing.call('POST', `${new URL(portal.body.url).pathname}/submit`, { form: { action: 'cancel' } });
    expect(await advance(id, 30)).toMatchObject({ status: 'active', cancel_at_period_end: true });
    expect(await advance(id, 1)).toMatchObject({ status: 'canceled' });
    expect((await told(userId)).at(-1)).toEqual(['canceled', on('2026-11-01')]);
  });

  test.each([
    ['active', 'succeeds'],
    ['past_due', 'declines_renewals'],
  ])('ends a trial as %s', async (status, card) => {
    const { token, userId, subscriptionId: id } = await billing.subscribe();
    await play(id, 'trialing');
    await set(id, { card });
    expect(await advance(id, 30)).toMatchObject({ status: 'trialing' });
    expect((await billing.admit(userId)).answer.body.verdict).toBe('admitted');
    await advance(id, 1);
    expect(await current(token)).toMatchObject({ status, current_period_start: on('2026-11-01') });
  });

  test('leaves a played state alone until it is moved, and goes on from it then', async () => {
    const { token, subscriptionId: id } = await billing.subscribe();
    await set(id, { card: 'declines_renewals' });
    await play(id, 'past_due');
    await billing.setClock('2026-10-20T12:00:00Z');
    await billing.app.tickPayments();
    expect(await current(token)).toMatchObject({ status: 'past_due' });
    expect(await advance(id, 15)).toMatchObject({ status: 'canceled', failed_attempts: 4 });
  });

  test('keeps a month-end anchor: 31 January, 28 February, 31 March', async () => {
    await billing.setClock('2026-01-31T12:00:00Z');
    const { userId, subscriptionId: id } = await billing.subscribe();
    await advance(id, 120);
    expect((await told(userId)).map(([, end]) => end)).toEqual(
      ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30'].map(on),
    );
  });

  test('does each thing once though the ordinary renewal runs at the same time', async () => {
    const { userId, subscriptionId: id } = await billing.subscribe();
    await Promise.all([advance(id, 62), ...Array.from({ length: 4 }, () => billing.app.tickPayments())]);
    await billing.app.tickPayments();
    expect(await advance(id, 1)).toMatchObject({ clock: on('2026-12-03'), current_period_end: on('2027-01-01') });
    const ends = (await told(userId)).map(([, end]) => end);
    expect(new Set(ends).size).toBe(ends.length);
    expect(ends.at(-1)).toBe(on('2027-01-01'));
  });

  test('is refused to an unknown subscription, and for no time, too much, or an unknown setting', async () => {
    expect((await billing.call('POST', `${control(newId('sub'))}/advance`, { json: { seconds: 1 } })).status).toBe(404);
    expect((await billing.call('PATCH', control(newId('sub')), { json: {} })).status).toBe(404);
    const { subscriptionId: id } = await billing.subscribe();
    for (const seconds of [0, -5, 1.5, 366 * DAY + 1]) {
      const answer = await billing.call('POST', `${control(id)}/advance`, { json: { seconds } });
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'seconds']]);
    }
    expect((await billing.call('PATCH', control(id), { json: { card: 'gold' } })).status).toBe(422);
    await billing
      .db('sandbox_subscriptions')
      .where({ status: 'active' })
      .update({ clock_ahead_seconds: 20 * 366 * DAY });
    const answer = await billing.call('POST', `${control(id)}/advance`, { json: { seconds: 1 } });
    expect(answer.body.detail[0]).toMatchObject({ loc: ['body', 'seconds'], type: 'value_error' });
  });
});
