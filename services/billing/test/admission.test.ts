import { newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances/index.ts';
import { APP, delegatedRequest, type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock('2026-10-01T12:00:00Z'));

const verdictOf = async (userId: string, more = {}) => (await billing.admit(userId, more)).answer.body.verdict;
const use = async (userId: string, costMicros: number) => {
  const { requestId, answer } = await billing.admit(userId);
  expect(answer.body).toEqual({ verdict: 'admitted' });
  expect(await billing.settle(requestId, { outcome: 'settled', cost_micros: costMicros })).toBe('settled');
};
const play = (subscriptionId: string, status: string) =>
  billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}`, { json: { status } });
const walPosition = async () => (await billing.db.raw('SELECT pg_current_wal_insert_lsn()::text AS at')).rows[0].at;

describe('the internal endpoint', () => {
  test('refuses whoever has no service credential', async () => {
    const { userId } = await billing.subscribe();
    expect((await billing.call('POST', '/internal/admissions', { json: delegatedRequest(userId) })).status).toBe(404);
  });
  test('answers 422 to a request that is not as agreed', async () => {
    const answer = await billing.internal('POST', '/internal/admissions', { kind: 'delegated' });
    expect(answer.status).toBe(422);
  });
});

describe('the order of decisions', () => {
  test('is status, service, weekly cap, monthly cap, pending', async () => {
    const { userId, subscriptionId } = await billing.subscribe();
    await billing
      .db('accounts')
      .where({ svc_user_id: userId })
      .update({ week_used_micros: 1000, month_used_micros: 3000 });
    await billing.db('accounts').where({ svc_user_id: userId }).update({ pending: 2 });
    expect(await verdictOf(userId, { service: 'audio_transcription' })).toBe('subscription_service_not_included');
    expect(await verdictOf(userId)).toBe('weekly_limit_exceeded');
    await billing.db('accounts').where({ svc_user_id: userId }).update({ week_used_micros: 999 });
    expect(await verdictOf(userId)).toBe('monthly_limit_exceeded');
    await billing.db('accounts').where({ svc_user_id: userId }).update({ month_used_micros: 2999 });
    expect(await verdictOf(userId)).toBe('subscription_requests_pending');
    await play(subscriptionId, 'paused');
    expect(await verdictOf(userId, { service: 'audio_transcription' })).toBe('subscription_inactive');
    await billing
      .db('accounts')
      .where({ svc_user_id: userId })
      .update({ week_used_micros: 0, month_used_micros: 0, pending: 0 });
  });
  test('refuses an account that never had a subscription', async () => {
    expect(await verdictOf(newId('usr'))).toBe('subscription_inactive');
  });
  test.each(['incomplete', 'paused', 'unpaid', 'canceled', 'incomplete_expired'])(
    'refuses a subscription that is %s',
    async (status) => {
      const { userId, subscriptionId } = await billing.subscribe();
      await play(subscriptionId, status);
      expect(await verdictOf(userId)).toBe('subscription_inactive');
    },
  );
  test('admits while trialing, and past_due within the grace, counted from when it was first seen so', async () => {
    const { userId, subscriptionId } = await billing.subscribe();
    await play(subscriptionId, 'trialing');
    expect(await verdictOf(userId)).toBe('admitted');
    await play(subscriptionId, 'past_due');
    await billing.setClock('2026-10-08T11:59:59.999Z');
    expect(await verdictOf(userId)).toBe('admitted');
    await billing.setClock('2026-10-08T12:00:00Z');
    expect(await verdictOf(userId)).toBe('subscription_inactive');
  });
});

describe('caps', () => {
  test('let a request below the cap overrun it, then refuse until the window ends', async () => {
    const { userId } = await billing.subscribe();
    await use(userId, 999);
    await use(userId, 500);
    const { answer } = await billing.admit(userId);
    expect(answer.body).toEqual({ verdict: 'weekly_limit_exceeded', resets_at: '2026-10-08T12:00:00.000Z' });
    await billing.setClock('2026-10-08T11:59:59.999Z');
    expect(await verdictOf(userId)).toBe('weekly_limit_exceeded');
    await billing.setClock('2026-10-08T12:00:00Z');
    expect(await verdictOf(userId)).toBe('admitted');
  });
  test('do not add live reservations, but add the estimates of uncertain requests', async () => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId, { estimate_micros: 1000 });
    const second = await billing.admit(userId);
    expect(second.answer.body.verdict).toBe('admitted');
    await billing.settle(second.requestId, { outcome: 'released' });
    expect(await billing.settle(requestId, { outcome: 'uncertain' })).toBe('uncertain');
    expect(await verdictOf(userId)).toBe('weekly_limit_exceeded');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 10 });
    expect(await verdictOf(userId)).toBe('admitted');
  });
  test('of the month hold over weeks, and end with the paid month without waiting for the renewal notice', async () => {
    await billing.setClock('2026-01-31T08:00:00Z');
    const { userId } = await billing.subscribe();
    for (const at of ['2026-01-31T08:00:00Z', '2026-02-07T08:00:00Z', '2026-02-14T08:00:00Z']) {
      await billing.setClock(at);
      await use(userId, 1000);
    }
    await billing.setClock('2026-02-28T07:59:59.999Z');
    const { answer } = await billing.admit(userId);
    expect(answer.body).toEqual({ verdict: 'monthly_limit_exceeded', resets_at: '2026-02-28T08:00:00.000Z' });
    await billing.setClock('2026-02-28T08:00:00Z');
    expect(await verdictOf(userId)).toBe('admitted');
    await billing.setClock('2026-03-29T08:00:00Z');
    await billing.app.tickPayments();
    const account = await billing.db('accounts').where({ svc_user_id: userId }).first();
    expect(account.month_start).toEqual(new Date('2026-02-28T08:00:00Z'));
    expect(account.month_end).toEqual(new Date('2026-03-31T08:00:00Z'));
  });
  test('count use in the window of its admission, not of its settlement', async () => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    await billing.setClock('2026-10-08T12:00:00Z');
    await use(userId, 1);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 700 });
    const account = await billing.db('accounts').where({ svc_user_id: userId }).first();
    expect([account.week_used_micros, account.month_used_micros]).toEqual([1, 701]);
  });
  test('survive clock steps: a window that has begun does not end early or begin again', async () => {
    const { userId } = await billing.subscribe();
    await billing.setClock('2026-10-08T12:00:00Z');
    await use(userId, 1000);
    await billing.setClock('2026-10-08T11:59:00Z');
    expect(await verdictOf(userId)).toBe('weekly_limit_exceeded');
    await billing.setClock('2026-10-08T12:30:00Z');
    expect(await verdictOf(userId)).toBe('weekly_limit_exceeded');
    expect(await checkBalances(billing.db)).toEqual([]);
  });
  test('follow a change of plan at once, with the use that there was', async () => {
    const { userId, token } = await billing.subscribe();
    await use(userId, 1000);
    expect(await verdictOf(userId)).toBe('weekly_limit_exceeded');
    const portal = await billing.call('POST', '/v1/subscriptions/portal', {
      token,
      json: { return_url: 'https://shop.example/' },
    });
    const path = new URL(portal.body.url).pathname;
    await billing.call('POST', `${path}/submit`, { form: { action: 'change_plan', plan_id: 'full' } });
    expect(await verdictOf(userId, { service: 'audio_transcription' })).toBe('admitted');
    expect((await billing.call('GET', '/v1/subscriptions/usage', { token })).body.weekly).toMatchObject({
      used_micros: 1000,
      used_percent: 1,
    });
  });
});

describe('concurrency', () => {
  test('200 admissions at once on an account with none pending: exactly two are admitted', async () => {
    const { userId } = await billing.subscribe();
    const answers = await Promise.all(Array.from({ length: 200 }, () => verdictOf(userId)));
    expect(answers.filter((verdict) => verdict === 'admitted')).toHaveLength(2);
    expect(answers.filter((verdict) => verdict === 'subscription_requests_pending')).toHaveLength(198);
    expect((await billing.db('accounts').where({ svc_user_id: userId }).first()).pending).toBe(2);
  });
  test('one request asked for 50 times at once takes one place and is admitted every time', async () => {
    const { userId } = await billing.subscribe();
    const request_id = newId('req');
    const answers = await Promise.all(Array.from({ length: 50 }, () => verdictOf(userId, { request_id })));
    expect(new Set(answers)).toEqual(new Set(['admitted']));
    expect((await billing.db('accounts').where({ svc_user_id: userId }).first()).pending).toBe(1);
  });
  test('one idempotency key used 30 times at once lets one request through, and the others learn which', async () => {
    const { userId } = await billing.subscribe();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => billing.admit(userId, { idempotency_key: 'order 7' })),
    );
    const admitted = answers.filter(({ answer }) => answer.body.verdict === 'admitted');
    expect(admitted).toHaveLength(1);
    const others = answers.filter(({ answer }) => answer.body.verdict === 'duplicate_request');
    expect(others).toHaveLength(29);
    for (const { answer } of others) {
      expect(answer.body.duplicate_of).toEqual({ request_id: admitted[0]?.requestId, state: 'reserved' });
    }
  });
});

describe('replay', () => {
  test('of an admitted request is admitted even when the account is full, capped or ended, and after settlement', async () => {
    const { userId, subscriptionId } = await billing.subscribe();
    const first = await billing.admit(userId);
    await billing.admit(userId);
    const again = { request_id: first.requestId };
    expect(await verdictOf(userId, again)).toBe('admitted');
    await billing.settle(first.requestId, { outcome: 'settled', cost_micros: 5000 });
    expect((await billing.admit(userId, again)).answer.body).toEqual({ verdict: 'admitted' });
    await play(subscriptionId, 'canceled');
    expect(await verdictOf(userId, again)).toBe('admitted');
  });
  test('under the id of another account is refused as invalid', async () => {
    const [one, other] = [await billing.subscribe(), await billing.subscribe()];
    const { requestId } = await billing.admit(one.userId);
    expect((await billing.admit(other.userId, { request_id: requestId })).answer.status).toBe(422);
  });
  test('of an idempotency key tells the state of the first request, per app, and stores no key in clear', async () => {
    const { userId } = await billing.subscribe();
    const idempotency_key = 'canary-idempotency-key';
    const { requestId } = await billing.admit(userId, { idempotency_key });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 3 });
    const second = await billing.admit(userId, { idempotency_key });
    expect(second.answer.body).toEqual({
      verdict: 'duplicate_request',
      duplicate_of: { request_id: requestId, state: 'settled' },
    });
    expect(await verdictOf(userId, { idempotency_key, client_id: newId('app') })).toBe('admitted');
    const stored = await billing.db('reservations').where({ svc_user_id: userId, client_id: APP });
    expect(JSON.stringify(stored)).not.toContain(idempotency_key);
  });
});

describe('a refusal', () => {
  test('writes nothing', async () => {
    const { userId } = await billing.subscribe();
    await billing.admit(userId);
    await billing.admit(userId);
    const refuse = () => verdictOf(userId, { idempotency_key: 'again' });
    // The first one may still set hint bits of rows that were just written.
    expect(await refuse()).toBe('subscription_requests_pending');
    const before = await walPosition();
    for (let round = 0; round < 20; round += 1) expect(await refuse()).toBe('subscription_requests_pending');
    expect(await verdictOf(newId('usr'))).toBe('subscription_inactive');
    expect(await walPosition()).toBe(before);
  });
});

describe('accounts whose rows somebody else holds for long', () => {
  test('hold up nobody else, and are decided and settled in their order once they are let go', async () => {
    const subscribers = await Promise.all(Array.from({ length: 8 }, () => billing.subscribe()));
    const [held, free] = [subscribers.slice(0, 2), subscribers.slice(2)];
    const open = await Promise.all(held.map(async ({ userId }) => (await billing.admit(userId)).requestId));
    const settle = (requestId: string) => billing.settle(requestId, { outcome: 'settled', cost_micros: 7 });
    const asked = await billing.db.transaction(async (trx) => {
      const userIds = held.map(({ userId }) => userId);
      await trx('accounts').whereIn('svc_user_id', userIds).select('svc_user_id').forNoKeyUpdate();
      const admitted = [...held, ...held].map(({ userId }) => verdictOf(userId));
      const settled = open.map(settle);
      // Once beside those that wait in a group, once while they wait alone.
      for (let time = 0; time < 2; time += 1) {
        const others = await Promise.all(free.map(({ userId }) => billing.admit(userId)));
        expect(others.map(({ answer }) => answer.body.verdict)).toEqual(free.map(() => 'admitted'));
        const ends = await Promise.all(others.map(({ requestId }) => settle(requestId)));
        expect(ends).toEqual(free.map(() => 'settled'));
      }
      return { admitted, settled };
    });
    expect(await Promise.all(asked.settled)).toEqual(['settled', 'settled']);
    const [first, second, third, fourth] = await Promise.all(asked.admitted);
    expect([first, second]).toEqual(['admitted', 'admitted']);
    for (const verdict of [third, fourth]) expect(['admitted', 'subscription_requests_pending']).toContain(verdict);
    expect(await checkBalances(billing.db)).toEqual([]);
  });
});
