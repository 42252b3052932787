import { newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
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
  test('is not served on the public port', async () => {
    const { userId } = await billing.subscribe();
    const json = { requests: [delegatedRequest(userId)] };
    expect((await billing.call('POST', '/internal/admission-batches', { json })).status).toBe(404);
  });
  test('returns 422 for a request that breaks the contract', async () => {
    const answer = await billing.decide({ kind: 'delegated' });
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
  test('admits while trialing, and while past_due within the grace period, which starts when billing first sees that status', async () => {
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
  test('admit a request that overruns the cap, then refuse until the window ends', async () => {
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
  test('ignore reserved requests, but count uncertain requests at their estimate', async () => {
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
  test('of the month span weeks, and reset with the paid month even before the renewal is reported', async () => {
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
    await billing.tick();
    const account = await billing.db('accounts').where({ svc_user_id: userId }).first();
    expect(account.month_start).toEqual(new Date('2026-02-28T08:00:00Z'));
    expect(account.month_end).toEqual(new Date('2026-03-31T08:00:00Z'));
  });
  test('count use in the window of its admission, not in that of its settlement', async () => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    await billing.setClock('2026-10-08T12:00:00Z');
    await use(userId, 1);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 700 });
    const account = await billing.db('accounts').where({ svc_user_id: userId }).first();
    expect([account.week_used_micros, account.month_used_micros]).toEqual([1, 701]);
  });
  test('keep the current window when the clock steps back', async () => {
    const { userId } = await billing.subscribe();
    await billing.setClock('2026-10-08T12:00:00Z');
    await use(userId, 1000);
    await billing.setClock('2026-10-08T11:59:00Z');
    expect(await verdictOf(userId)).toBe('weekly_limit_exceeded');
    await billing.setClock('2026-10-08T12:30:00Z');
    expect(await verdictOf(userId)).toBe('weekly_limit_exceeded');
    expect(await checkBalances(billing.db)).toEqual([]);
  });
  test('change with the plan at once, and keep the use so far', async () => {
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
  test('admits exactly two of 200 concurrent requests of one account', async () => {
    const { userId } = await billing.subscribe();
    const answers = await Promise.all(Array.from({ length: 200 }, () => verdictOf(userId)));
    expect(answers.filter((verdict) => verdict === 'admitted')).toHaveLength(2);
    expect(answers.filter((verdict) => verdict === 'subscription_requests_pending')).toHaveLength(198);
    expect((await billing.db('accounts').where({ svc_user_id: userId }).first()).pending).toBe(2);
  });
  test('admits a request every time and takes one place when it is sent 50 times concurrently', async () => {
    const { userId } = await billing.subscribe();
    const request_id = newId('req');
    const answers = await Promise.all(Array.from({ length: 50 }, () => verdictOf(userId, { request_id })));
    expect(new Set(answers)).toEqual(new Set(['admitted']));
    expect((await billing.db('accounts').where({ svc_user_id: userId }).first()).pending).toBe(1);
  });
  test('admits one of 30 concurrent requests with the same idempotency key, and names it to the others', async () => {
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
  test('of an admitted request is admitted even if it is settled, or the account is full, capped or inactive', async () => {
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
  test('of a request id of another account returns 422', async () => {
    const one = await billing.subscribe();
    const other = await billing.subscribe();
    const { requestId } = await billing.admit(one.userId);
    expect((await billing.admit(other.userId, { request_id: requestId })).answer.status).toBe(422);
  });
  test('of an idempotency key returns the state of the first request of that app; the key is not stored in plain text', async () => {
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
  test('of an idempotency key is recognized for 48 hours', async () => {
    await billing.setClock('2026-10-01T12:00:00Z');
    const { userId } = await billing.subscribe();
    const ask = async () =>
      (await billing.admit(userId, { idempotency_key: 'order 9' })).answer.body.duplicate_of?.request_id;
    const first = await billing.admit(userId, { idempotency_key: 'order 9' });
    await billing.settle(first.requestId, { outcome: 'settled', cost_micros: 3 });
    await billing.setClock('2026-10-03T11:59:59Z');
    expect(await ask()).toBe(first.requestId);
    await billing.setClock('2026-10-03T12:00:00Z');
    const second = await billing.admit(userId, { idempotency_key: 'order 9' });
    expect(second.answer.body).toMatchObject({ verdict: 'admitted' });
    expect(await ask()).toBe(second.requestId);
    await billing.setClock(null);
  });
});

describe('a refusal', () => {
  test('writes nothing', async () => {
    const { userId } = await billing.subscribe();
    await billing.admit(userId);
    await billing.admit(userId);
    const refuse = () => verdictOf(userId, { idempotency_key: 'again' });
    // The first refusal may still set hint bits on freshly written rows.
    expect(await refuse()).toBe('subscription_requests_pending');
    const before = await walPosition();
    for (let round = 0; round < 20; round += 1) expect(await refuse()).toBe('subscription_requests_pending');
    expect(await verdictOf(newId('usr'))).toBe('subscription_inactive');
    expect(await walPosition()).toBe(before);
  });
});

describe('accounts whose rows stay locked', () => {
  test('are answered at once in a call with others, undecided and unchanged', async () => {
    const [locked, free] = await Promise.all([billing.subscribe(), billing.subscribe()]);
    const requests = [locked, free, locked].map(({ userId }) => delegatedRequest(userId));
    const { body } = await billing.db.transaction(async (trx) => {
      await trx('accounts').where({ svc_user_id: locked.userId }).forNoKeyUpdate().first();
      return await billing.internal('POST', '/internal/admission-batches', { requests });
    });
    expect(body.decisions).toEqual([null, { verdict: 'admitted' }, null]);
    expect(await billing.db('reservations').where({ svc_user_id: locked.userId })).toEqual([]);
  });

  test('do not delay other accounts, and are decided and settled in order once unlocked', async () => {
    const subscribers = await Promise.all(Array.from({ length: 8 }, () => billing.subscribe()));
    const locked = subscribers.slice(0, 2);
    const free = subscribers.slice(2);
    const open = await Promise.all(locked.map(async ({ userId }) => (await billing.admit(userId)).requestId));
    const settle = (requestId: string) => billing.settle(requestId, { outcome: 'settled', cost_micros: 7 });
    const waiting = await billing.db.transaction(async (trx) => {
      const userIds = locked.map(({ userId }) => userId);
      await trx('accounts').whereIn('svc_user_id', userIds).select('svc_user_id').forNoKeyUpdate();
      const admitted = [...locked, ...locked].map(({ userId }) => verdictOf(userId));
      const settled = open.map(settle);
      // First while the locked ones wait in a batch, then while they wait one by one.
      for (let time = 0; time < 2; time += 1) {
        const others = await Promise.all(free.map(({ userId }) => billing.admit(userId)));
        expect(others.map(({ answer }) => answer.body.verdict)).toEqual(free.map(() => 'admitted'));
        const ends = await Promise.all(others.map(({ requestId }) => settle(requestId)));
        expect(ends).toEqual(free.map(() => 'settled'));
      }
      return { admitted, settled };
    });
    expect(await Promise.all(waiting.settled)).toEqual(['settled', 'settled']);
    const [first, second, third, fourth] = await Promise.all(waiting.admitted);
    expect([first, second]).toEqual(['admitted', 'admitted']);
    for (const verdict of [third, fourth]) expect(['admitted', 'subscription_requests_pending']).toContain(verdict);
    expect(await checkBalances(billing.db)).toEqual([]);
  });
});
