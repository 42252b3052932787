import { events, newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RETURNS, SESSION_ID, type TestBilling, testBilling } from './support/billing.ts';

const START = '2026-10-01T12:00:00.000Z';
let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock(START));

const signIn = async (userId = newId('usr')) => ({ userId, token: await billing.tokens.consoleSession({ userId }) });
const checkout = async (token: string, more: object = {}) =>
  billing.call('POST', '/v1/subscriptions/checkout', { token, json: { plan_id: 'basic', ...RETURNS, ...more } });
/** Lists the active subscriptions that Stripe has for an account. */
const paidBy = (userId: string) =>
  billing.stripe
    .list('subscription')
    .filter(({ metadata, status }) => metadata['svc_user_id'] === userId && status === 'active');
const complete = (sessionId: string) => billing.call('POST', `/sandbox/payments/sessions/${sessionId}/complete`);
const confirm = (token: string, sessionId: string) =>
  billing.call('POST', '/v1/subscriptions/checkout/confirm', { token, json: { session_id: sessionId } });
const current = async (token: string) => (await billing.call('GET', '/v1/subscriptions', { token })).body.subscription;
const play = (subscriptionId: string, status: string) =>
  billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}`, { json: { status } });
const factsOf = async (userId: string) =>
  billing
    .db('outbox')
    .where({ aggregate: `subscription:${userId}` })
    .orderBy('seq')
    .select('subject', 'version', 'payload');

describe('GET /v1/subscriptions/plans', () => {
  test('lists the plans on offer without credentials and without fields of the payment provider', async () => {
    const { status, body } = await billing.call('GET', '/v1/subscriptions/plans');
    expect(status).toBe(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['basic', 'full', 'yearly']);
    expect(JSON.stringify(body)).not.toContain('stripe');
  });
});

describe('buying a subscription', () => {
  test('runs from checkout through payment to confirmation, and returns the same when confirmed again', async () => {
    const { token } = await signIn();
    expect(await current(token)).toBeNull();
    const started = await checkout(token);
    expect(started.status).toBe(200);
    const { session_id: id } = started.body;
    expect(started.body).toEqual({
      session_id: expect.stringMatching(SESSION_ID),
      url: `${billing.tokens.publicBaseUrl}/sandbox/payments/sessions/${id}`,
      expires_at: '2026-10-02T12:00:00.000Z',
    });
    const paid = await complete(id);
    expect([paid.status, paid.body]).toEqual([200, { session_id: id, status: 'complete' }]);
    const confirmed = await confirm(token, id);
    expect(confirmed.status).toBe(200);
    expect(confirmed.body).toEqual({
      subscription: {
        id: expect.stringMatching(/^sub_/),
        status: 'active',
        plan: { id: 'basic', name: 'Basic' },
        current_period_start: START,
        current_period_end: '2026-11-01T12:00:00.000Z',
        cancel_at_period_end: false,
        paid_by: null,
        revision: 1,
      },
    });
    expect((await confirm(token, id)).body).toEqual(confirmed.body);
    expect((await complete(id)).status).toBe(200);
    expect(await current(token)).toEqual(confirmed.body.subscription);
  });
  test('takes effect when it is paid, even without a confirmation', async () => {
    const { token } = await signIn();
    await complete((await checkout(token)).body.session_id);
    expect(await current(token)).toMatchObject({ status: 'active' });
  });
  test('publishes one fact under concurrent payments and confirmations', async () => {
    const { token, userId } = await signIn();
    const id = (await checkout(token)).body.session_id;
    await Promise.all([...Array.from({ length: 5 }, () => complete(id))]);
    const answers = await Promise.all(Array.from({ length: 5 }, () => confirm(token, id)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const facts = await factsOf(userId);
    expect(facts).toHaveLength(1);
    expect(facts[0]).toMatchObject({
      subject: events.subscriptionChanged.subject,
      version: 1,
      payload: {
        svc_user_id: userId,
        status: 'active',
        plan: { id: 'basic', name: 'Basic' },
        period: { start: START, end: '2026-11-01T12:00:00.000Z' },
        cancel_at_period_end: false,
        budget: {
          weekly_used_percent: 0,
          monthly_used_percent: 0,
          services: { chat: true, audio_transcription: false },
        },
        revision: 1,
      },
    });
  });

  describe('is invalid', () => {
    test.each([
      ['an unknown plan', { plan_id: 'none' }, ['body', 'plan_id'], 'value_error'],
      ['no plan', { plan_id: undefined }, ['body', 'plan_id'], 'missing'],
      ['a plain http success URL', { success_url: 'http://shop.example/' }, ['body', 'success_url'], 'value_error'],
      ['a script as cancel URL', { cancel_url: 'javascript:alert(1)' }, ['body', 'cancel_url'], 'value_error'],
      [
        'a URL that is too long',
        { cancel_url: `https://a.example/${'x'.repeat(2048)}` },
        ['body', 'cancel_url'],
        'string_too_long',
      ],
      ['an unknown property', { coupon: 'x' }, ['body', 'coupon'], 'extra_forbidden'],
    ])('with %s', async (_fault, more, loc, type) => {
      const { token } = await signIn();
      const answer = await checkout(token, more);
      expect(answer.status).toBe(422);
      expect(answer.body.detail).toEqual([expect.objectContaining({ loc, type })]);
    });
    test('with an empty or overlong session id', async () => {
      const { token } = await signIn();
      expect((await confirm(token, '')).body.detail[0].type).toBe('string_too_short');
      expect((await confirm(token, 'x'.repeat(256))).body.detail[0].type).toBe('string_too_long');
    });
  });

  test('requires a console session', async () => {
    const answer = await billing.call('POST', '/v1/subscriptions/checkout', { json: {} });
    expect([answer.status, answer.body.detail.code]).toEqual([401, 'not_authenticated']);
    const accessToken = await billing.tokens.accessToken();
    expect((await checkout(accessToken)).body.detail.code).toBe('invalid_token');
  });
  test('returns 404 to another account, before and after payment', async () => {
    const buyer = await signIn();
    const stranger = await signIn();
    const id = (await checkout(buyer.token)).body.session_id;
    expect((await confirm(stranger.token, id)).status).toBe(404);
    await complete(id);
    expect((await confirm(stranger.token, id)).status).toBe(404);
    expect(await current(stranger.token)).toBeNull();
    expect((await confirm(stranger.token, newId('cs'))).status).toBe(404);
  });
  test('returns 409 until it is paid, and after it has expired', async () => {
    const { token } = await signIn();
    const id = (await checkout(token)).body.session_id;
    expect((await confirm(token, id)).body.detail.code).toBe('checkout_not_completed');
    await billing.setClock('2026-10-02T12:00:00Z');
    const late = await complete(id);
    expect([late.status, late.body.detail.code]).toEqual([409, 'checkout_not_completed']);
    expect((await confirm(token, id)).body.detail.code).toBe('checkout_not_completed');
    expect(await current(token)).toBeNull();
  });
});

describe('two purchases', () => {
  test('return 409 while a subscription is live', async () => {
    const { token, subscriptionId } = await billing.subscribe();
    const second = await checkout(token, { plan_id: 'full' });
    expect([second.status, second.body.detail.code]).toEqual([409, 'subscription_already_active']);
    await play(subscriptionId, 'canceled');
    expect((await checkout(token)).status).toBe(200);
  });
  test('started in parallel leave one live subscription, and the second payment is reverted', async () => {
    const { token, userId } = await signIn();
    const one = (await checkout(token)).body.session_id;
    const two = (await checkout(token, { plan_id: 'full' })).body.session_id;
    expect((await complete(one)).status).toBe(200);
    const lost = await complete(two);
    expect([lost.status, lost.body.detail.code]).toEqual([409, 'subscription_already_active']);
    expect((await confirm(token, two)).body.detail.code).toBe('subscription_already_active');
    expect((await confirm(token, one)).status).toBe(200);
    expect(await current(token)).toMatchObject({ plan: { id: 'basic' }, status: 'active' });
    expect(paidBy(userId)).toHaveLength(1);
    const page = await billing.call('GET', `/sandbox/payments/sessions/${two}`);
    expect(page.text).toContain('è stato stornato');
    await billing.tick();
    expect(await factsOf(userId)).toHaveLength(1);
  });
  test('paid concurrently leave one live subscription', async () => {
    const { token, userId } = await signIn();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => checkout(token)));
    const answers = await Promise.all(sessions.map(({ body }) => complete(body.session_id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect(paidBy(userId)).toHaveLength(1);
    expect(await billing.db('subscriptions').where({ svc_user_id: userId })).toHaveLength(1);
  });
  test('in succession keep the use of the running windows, and continue the revisions', async () => {
    const { token, userId, subscriptionId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 1000 });
    await play(subscriptionId, 'canceled');
    await billing.setClock('2026-10-03T00:00:00Z');
    const id = (await checkout(token, { plan_id: 'basic' })).body.session_id;
    await complete(id);
    expect((await confirm(token, id)).body.subscription).toMatchObject({ revision: 3 });
    const usage = (await billing.call('GET', '/v1/subscriptions/usage', { token })).body;
    expect(usage.weekly).toMatchObject({ used_micros: 1000, resets_at: '2026-10-10T00:00:00.000Z' });
    expect(usage.monthly).toMatchObject({ used_micros: 1000, resets_at: '2026-11-03T00:00:00.000Z' });
  });
});

describe('later states', () => {
  test('are published once each, as snapshot or end, with growing revisions', async () => {
    const { userId, subscriptionId, token } = await billing.subscribe();
    for (const status of ['past_due', 'past_due', 'active', 'unpaid', 'active', 'canceled', 'canceled']) {
      expect((await play(subscriptionId, status)).body).toEqual({ id: subscriptionId, status });
    }
    const facts = await factsOf(userId);
    expect(facts.map(({ subject, version, payload }) => [subject, version, payload.status, payload.revision])).toEqual([
      [events.subscriptionChanged.subject, 1, 'active', 1],
      [events.subscriptionChanged.subject, 2, 'past_due', 2],
      [events.subscriptionChanged.subject, 3, 'active', 3],
      [events.subscriptionEnded.subject, 4, 'unpaid', 4],
      [events.subscriptionChanged.subject, 5, 'active', 5],
      [events.subscriptionEnded.subject, 6, 'canceled', 6],
    ]);
    expect(facts.at(-1)?.payload.ended_at).toBe(START);
    const notices = await billing
      .db('outbox')
      .whereLike('aggregate', `plan_notice:${subscriptionId}:%`)
      .orderBy('seq')
      .pluck('payload');
    expect(notices.map(({ kind, is_unpaid }) => [kind, is_unpaid])).toEqual([
      ['purchased', false],
      ['payment_failed', false],
      ['ended', true],
      ['ended', false],
    ]);
    expect(await current(token)).toMatchObject({ status: 'canceled', revision: 6 });
  });
  test('are refused after a final one', async () => {
    const { subscriptionId } = await billing.subscribe();
    await play(subscriptionId, 'canceled');
    expect((await play(subscriptionId, 'active')).body.detail[0]).toMatchObject({
      loc: ['body', 'status'],
      type: 'value_error',
    });
  });
  test('return 404 for an unknown subscription, and 422 for an unknown state', async () => {
    expect((await play(newId('sub'), 'active')).status).toBe(404);
    const { subscriptionId } = await billing.subscribe();
    expect((await play(subscriptionId, 'dead')).body.detail[0]).toMatchObject({
      loc: ['body', 'status'],
      type: 'enum',
    });
  });
  test('are reverted if an unpaid subscription becomes active while another one is live', async () => {
    const { userId, token, subscriptionId } = await billing.subscribe();
    await play(subscriptionId, 'unpaid');
    await complete((await checkout(token)).body.session_id);
    expect((await play(subscriptionId, 'active')).body.status).toBe('canceled');
    expect(await billing.db('subscriptions').where({ svc_user_id: userId, status: 'active' })).toHaveLength(1);
    expect((await current(token)).id).not.toBe(subscriptionId);
  });
});

describe('renewal', () => {
  test('follows the clock: 31 January, 28 February, 31 March', async () => {
    await billing.setClock('2026-01-31T08:00:00Z');
    const { token } = await billing.subscribe();
    const ends: string[] = [];
    for (const at of ['2026-01-31T08:00:00Z', '2026-02-28T08:00:00Z', '2026-03-31T08:00:00Z', '2026-04-30T08:00:01Z']) {
      await billing.setClock(at);
      await billing.tick();
      ends.push((await current(token)).current_period_end);
    }
    expect(ends).toEqual([
      ...[
        '2026-02-28T08:00:00.000Z',
        '2026-03-31T08:00:00.000Z',
        '2026-04-30T08:00:00.000Z',
        '2026-05-31T08:00:00.000Z',
      ],
    ]);
  });
  test('ends a subscription that was cancelled for the end of its period', async () => {
    const { token, userId } = await billing.subscribe();
    const portal = await billing.call('POST', '/v1/subscriptions/portal', {
      token,
      json: { return_url: 'https://shop.example/' },
    });
    await billing.call('POST', `${new URL(portal.body.url).pathname}/submit`, { form: { action: 'cancel' } });
    expect(await current(token)).toMatchObject({ status: 'active', cancel_at_period_end: true, revision: 2 });
    await billing.setClock('2026-11-01T12:00:00Z');
    await billing.tick();
    expect(await current(token)).toMatchObject({ status: 'canceled', revision: 3 });
    expect((await factsOf(userId)).at(-1)?.payload).toMatchObject({
      status: 'canceled',
      ended_at: '2026-11-01T12:00:00.000Z',
    });
  });
});

describe('POST /internal/subscription-snapshots', () => {
  test('returns the current snapshots in the given order, and null without a subscription', async () => {
    const { userId } = await billing.subscribe();
    const read = async (...ids: string[]) =>
      (await billing.internal('POST', '/internal/subscription-snapshots', { svc_user_ids: ids })).body.snapshots;
    const { svc_user_id: _, ...published } = (await factsOf(userId))[0]?.payload ?? {};
    expect(await read(newId('usr'), userId, newId('usr'))).toEqual([null, published, null]);
    const { requestId } = await billing.admit(userId);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 505 });
    expect((await read(userId))[0].budget).toMatchObject({ weekly_used_percent: 50, monthly_used_percent: 16 });
  });
  test.each([
    ['trialing', true],
    ['past_due', true],
    ['paused', false],
    ['canceled', false],
  ])('includes the services of a subscription that is %s: %s', async (status, chat) => {
    const { userId, subscriptionId } = await billing.subscribe();
    await play(subscriptionId, status);
    const { body } = await billing.internal('POST', '/internal/subscription-snapshots', { svc_user_ids: [userId] });
    expect(body.snapshots[0]).toMatchObject({ status, budget: { services: { chat, audio_transcription: false } } });
  });
});
