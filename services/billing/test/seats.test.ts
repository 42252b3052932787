import { randomUUID } from 'node:crypto';
import { type EventEnvelope, events, newId } from '@svc/contracts';
import { type Consumer, connectMessaging, type Messaging } from '@svc/messaging';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { createLogger } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startMembershipConsumer } from '../src/seats/index.ts';
import { RETURNS, type TestBilling, testBilling } from './support/billing.ts';
import { organizations } from './support/organizations.ts';

const START = '2026-10-01T12:00:00.000Z';
let nats: TestNats;
let billing: TestBilling;
let messaging: Messaging;
let operator: Messaging;
let consumer: Consumer;
let people: ReturnType<typeof organizations>;

beforeAll(async () => {
  [nats, billing] = await Promise.all([testNats(), testBilling()]);
  people = organizations(billing);
  const logger = createLogger({ service: 'billing', level: 'silent' });
  messaging = await connectMessaging({ url: nats.urlOf('billing'), name: 'billing', logger });
  operator = await connectMessaging({ url: nats.url, name: 'operator', logger });
  consumer = startMembershipConsumer({ ...billing.app.seats, messaging });
});
afterAll(async () => {
  await consumer?.stop();
  await Promise.all([messaging?.close(), operator?.close()]);
  await Promise.all([billing?.stop(), nats?.stop()]);
});
beforeEach(() => billing.setClock(START));
afterEach(() => {
  billing.stripe.reset();
  billing.auth.beforeAnswer = async () => undefined;
});

const remove = async (organizationId: string, member: { svc_user_id: string; membership_id: string }) => {
  const { subject } = events.memberRemoved;
  const envelope: Omit<EventEnvelope, 'epoch'> = {
    id: randomUUID(),
    subject,
    aggregate: `membership:${member.membership_id}`,
    version: 1,
    occurred_at: START,
    data: {
      organization_id: organizationId,
      membership_id: member.membership_id,
      svc_user_id: member.svc_user_id,
    },
  };
  await operator.jetstream.publish(subject, JSON.stringify(envelope));
  await waitFor(
    async () =>
      (await billing.db('ended_memberships').where({ membership_id: member.membership_id }).first()) !== undefined,
  );
};

describe('buying seats', () => {
  test('leads to a checkout of the quantity, and has them once they are paid', async () => {
    const owner = await people.found();
    const started = await people.change(owner, 3);
    expect(started.status).toBe(200);
    const { session_id: id } = started.body;
    expect(started.body.url).toBe(`${billing.tokens.publicBaseUrl}/sandbox/payments/sessions/${id}`);
    expect((await people.list(owner)).body.data).toEqual([]);
    await people.pay(id);
    expect((await people.confirm(owner, id)).body).toEqual({ subscription: null });
    expect((await people.list(owner)).body.data).toEqual([{ plan_id: 'basic', quantity: 3, assigned: 0 }]);
    const [subscription] = people.paidBy(owner.userId);
    expect(subscription).toMatchObject({ metadata: { svc_seats: 'true' }, items: { data: [{ quantity: 3 }] } });
    expect(await people.actsOf(owner.userId)).toEqual([
      ['seats.changed', '3 × Basic'],
      ['checkout.confirmed', 'basic'],
    ]);
    // The organization has bought no plan for itself.
    expect((await billing.call('GET', '/v1/subscriptions', { token: owner.token })).body.subscription).toBeNull();
  });

  test('charges three times the price for three seats, at the purchase and at each renewal', async () => {
    const owner = await people.foundWithSeats(3);
    const [subscription] = people.paidBy(owner.userId);
    const totals = () =>
      billing.stripe
        .list('invoice')
        .filter(({ customer }) => customer === subscription?.customer)
        .map(({ total }) => total);
    expect(totals()).toEqual([1500]);
    await people.advance(String(subscription?.metadata['svc_subscription_id']), 31 * 86_400);
    expect(totals()).toEqual([1500, 1500]);
  });

  test('reverts the second of two purchases of the same plan', async () => {
    const owner = await people.found();
    const ids = [(await people.change(owner, 2)).body.session_id, (await people.change(owner, 4)).body.session_id];
    await people.pay(ids[0]);
    await people.pay(ids[1]);
    expect((await people.confirm(owner, ids[1])).body.detail.code).toBe('subscription_already_active');
    expect((await people.list(owner)).body.data).toEqual([{ plan_id: 'basic', quantity: 2, assigned: 0 }]);
    expect(people.paidBy(owner.userId)).toHaveLength(1);
  });

  test('returns 404 for an unknown plan, and nothing changes for 0 seats of a plan without any', async () => {
    const owner = await people.found();
    expect((await people.change(owner, 1, 'none')).status).toBe(404);
    expect((await people.change(owner, 0)).body).toEqual({ data: [] });
  });

  test('is refused to a developer, and to a personal account', async () => {
    const owner = await people.found();
    const token = await people.actAs(owner.userId, 'developer');
    const refused = await people.change({ ...owner, token }, 1);
    expect([refused.status, refused.body.detail.code, refused.body.detail.required_role]).toEqual([
      403,
      'role_not_allowed',
      'billing',
    ]);
    const person = await billing.tokens.consoleSession();
    expect((await people.change({ ...owner, token: person }, 1)).body.detail.code).toBe('business_account_required');
  });
});

describe('changing the quantity', () => {
  test('charges more seats for the rest of the period, and never takes seats that members have', async () => {
    const owner = await people.foundWithSeats(1);
    await people.assign(owner, billing.auth.join(owner.userId).svc_user_id);
    const more = await people.change(owner, 2);
    expect(more.body.data).toEqual([{ plan_id: 'basic', quantity: 2, assigned: 1 }]);
    await people.assign(owner, billing.auth.join(owner.userId).svc_user_id);
    const refused = await people.change(owner, 1);
    expect([refused.status, refused.body.detail.code]).toEqual([409, 'seats_assigned']);
    const [update] = billing.stripe.calls.filter(({ params }) => params['items'] !== undefined);
    expect(update?.params).toMatchObject({ proration_behavior: 'always_invoice' });
    expect((await people.actsOf(owner.userId)).map(([, name]) => name)).toContain('2 × Basic');
  });

  test('ends the order with the last seat, so that the next ones are bought at a checkout', async () => {
    const owner = await people.foundWithSeats(2);
    expect((await people.change(owner, 0)).body).toEqual({ data: [] });
    expect(people.paidBy(owner.userId)).toEqual([]);
    expect((await people.change(owner, 1)).body.session_id).toBeDefined();
  });

  test('has no effect if the card declines', async () => {
    const owner = await people.foundWithSeats(1);
    const [subscription] = people.paidBy(owner.userId);
    const id = String(subscription?.metadata['svc_subscription_id']);
    await billing.call('PATCH', `/sandbox/payments/subscriptions/${id}`, { json: { card: 'declines_renewals' } });
    const refused = await people.change(owner, 2);
    expect([refused.status, refused.body.detail.code]).toEqual([503, 'payment_provider_unavailable']);
    await billing.tick();
    expect((await people.list(owner)).body.data).toEqual([{ plan_id: 'basic', quantity: 1, assigned: 0 }]);
  });

  test('is made once and later if Stripe is away, however often it was asked for', async () => {
    const owner = await people.foundWithSeats(1);
    billing.stripe.misbehavior.faults.push(...Array<number>(6).fill(500));
    for (let time = 0; time < 2; time += 1) expect((await people.change(owner, 5)).status).toBe(503);
    billing.stripe.misbehavior.faults.length = 0;
    await billing.setClock('2026-10-01T13:00:00.000Z');
    await billing.tick();
    expect((await people.list(owner)).body.data).toEqual([{ plan_id: 'basic', quantity: 5, assigned: 0 }]);
    expect(billing.stripe.calls.filter(({ params }) => params['items'] !== undefined)).toHaveLength(1);
  });

  test('ends with the quantity that was asked for last, under parallel changes', async () => {
    const owner = await people.foundWithSeats(1);
    await Promise.all([2, 3, 4, 5].map((quantity) => people.change(owner, quantity)));
    const [subscription] = people.paidBy(owner.userId);
    const { quantity, wanted_quantity } = await billing
      .db('seat_orders')
      .where({ svc_user_id: owner.userId })
      .first('quantity', 'wanted_quantity');
    expect(quantity).toBe(wanted_quantity);
    expect(subscription?.items.data[0]?.quantity).toBe(quantity);
  });

  test('that Stripe lowers below the seats that members have ends the newest of them', async () => {
    const owner = await people.foundWithSeats(2);
    const members = [billing.auth.join(owner.userId), billing.auth.join(owner.userId)];
    for (const [place, { svc_user_id }] of members.entries()) {
      await billing.setClock(new Date(Date.parse(START) + place * 1_000));
      await people.assign(owner, svc_user_id);
    }
    const [subscription] = people.paidBy(owner.userId);
    const [item] = subscription?.items.data ?? [];
    billing.stripe.changeSubscription(String(subscription?.id), {
      items: { object: 'list', data: [{ ...item, quantity: 1 }] },
    });
    await billing.stripe.run();
    expect(await Promise.all(members.map(({ svc_user_id }) => people.statusOf(svc_user_id)))).toEqual([
      'active',
      'canceled',
    ]);
  });
});

describe('a seat', () => {
  test('is a plan of the member, for partners like any other, and says who pays', async () => {
    const owner = await people.foundWithSeats(1);
    billing.auth.name(owner.userId, 'Example Ltd');
    const { svc_user_id: userId, membership_id: _, ...member } = billing.auth.join(owner.userId);
    const given = await people.assign(owner, userId);
    expect([given.status, given.body]).toEqual([200, { ...member, svc_user_id: userId, seat: 'basic' }]);
    const { subscription } = await people.own(userId);
    expect(subscription).toMatchObject({
      status: 'active',
      plan: { id: 'basic' },
      current_period_end: '2026-11-01T12:00:00.000Z',
      paid_by: { organization_id: owner.userId, name: 'Example Ltd' },
    });
    const { requestId, answer } = await billing.admit(userId);
    expect(answer.body.verdict).toBe('admitted');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 1_000 });
    expect((await billing.admit(userId)).answer.body.verdict).toBe('weekly_limit_exceeded');
    const [fact, ...others] = await people.factsOf(userId);
    expect(fact).toMatchObject({
      subject: 'billing.subscription.changed.v1',
      payload: { status: 'active', plan: { id: 'basic' }, revision: 1 },
    });
    expect(JSON.stringify(fact)).not.toContain(owner.userId);
    expect(others).toEqual([]);
    const holders = await billing.internal('GET', `/internal/organizations/${owner.userId}/seats`);
    expect(holders.body.data).toEqual([{ svc_user_id: userId, plan_id: 'basic' }]);
    expect((await people.assign(owner, userId)).status).toBe(200);
    expect(await people.factsOf(userId)).toHaveLength(1);
    billing.auth.isSilent = true;
    expect((await people.own(userId)).subscription.paid_by.name).toBeNull();
    billing.auth.isSilent = false;
  });

  test('ends at once when it is taken away, and is free', async () => {
    const owner = await people.foundWithSeats(1);
    const first = billing.auth.join(owner.userId);
    const second = billing.auth.join(owner.userId);
    await people.assign(owner, first.svc_user_id);
    const full = await people.assign(owner, second.svc_user_id);
    expect([full.status, full.body.detail.code]).toEqual([409, 'no_free_seat']);
    expect((await people.assign(owner, first.svc_user_id, null)).body.seat).toBeNull();
    const facts = await people.factsOf(first.svc_user_id);
    expect(facts.at(-1)).toMatchObject({
      subject: 'billing.subscription.ended.v1',
      payload: { status: 'canceled', ended_at: START },
    });
    expect((await billing.admit(first.svc_user_id)).answer.body.verdict).toBe('subscription_inactive');
    expect((await people.assign(owner, second.svc_user_id)).status).toBe(200);
    expect((await people.actsOf(owner.userId)).filter(([action]) => action === 'seat.assigned')).toEqual([
      ['seat.assigned', `${first.name}: basic`],
      ['seat.assigned', `${first.name}: –`],
      ['seat.assigned', `${second.name}: basic`],
    ]);
  });

  test('is given once to one of many members who are assigned the last one at the same time', async () => {
    const owner = await people.foundWithSeats(2);
    const members = Array.from({ length: 6 }, () => billing.auth.join(owner.userId));
    const answers = await Promise.all(members.map(({ svc_user_id }) => people.assign(owner, svc_user_id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 409, 409, 409, 409]);
    expect((await people.list(owner)).body.data).toEqual([{ plan_id: 'basic', quantity: 2, assigned: 2 }]);
  });

  test('excludes a plan of one’s own, in either order', async () => {
    const owner = await people.foundWithSeats(2);
    const buyer = await billing.subscribe();
    billing.auth.join(owner.userId, buyer.userId);
    const refused = await people.assign(owner, buyer.userId);
    expect([refused.status, refused.body.detail.code]).toEqual([409, 'member_has_plan']);
    const { svc_user_id: userId } = billing.auth.join(owner.userId);
    const token = await billing.tokens.consoleSession({ userId });
    const checkout = () =>
      billing.call('POST', '/v1/subscriptions/checkout', { token, json: { plan_id: 'full', ...RETURNS } });
    const { session_id: id } = (await checkout()).body;
    await people.assign(owner, userId);
    expect((await checkout()).body.detail.code).toBe('subscription_already_active');
    // A checkout that was open before is refunded.
    await people.pay(id);
    expect((await people.confirm({ userId, token }, id)).body.detail.code).toBe('subscription_already_active');
    expect((await people.own(userId)).subscription.plan.id).toBe('basic');
  });

  test('moves to another plan without an end', async () => {
    const owner = await people.foundWithSeats(1);
    await people.buy(owner, 1, 'full');
    const { svc_user_id: userId } = billing.auth.join(owner.userId);
    await people.assign(owner, userId);
    expect((await people.assign(owner, userId, 'full')).body.seat).toBe('full');
    expect((await people.factsOf(userId)).map(({ payload }) => [payload.status, payload.plan.id])).toEqual([
      ['active', 'basic'],
      ['active', 'full'],
    ]);
    expect((await people.list(owner)).body.data).toEqual([
      { plan_id: 'basic', quantity: 1, assigned: 0 },
      { plan_id: 'full', quantity: 1, assigned: 1 },
    ]);
  });

  test('is 404 for a person who is no member', async () => {
    const owner = await people.foundWithSeats(1);
    expect((await people.assign(owner, newId('usr'))).status).toBe(404);
  });
});

describe('the end of a seat', () => {
  test('follows the removal of its member, and a membership of later is not concerned', async () => {
    const owner = await people.foundWithSeats(1);
    const former = billing.auth.join(owner.userId);
    const { svc_user_id: userId } = former;
    await people.assign(owner, userId);
    billing.auth.leave(owner.userId, userId);
    await remove(owner.userId, former);
    expect(await people.statusOf(userId)).toBe('canceled');
    const again = billing.auth.join(owner.userId, userId);
    expect((await people.assign(owner, userId)).status).toBe(200);
    expect(again.membership_id).not.toBe(former.membership_id);
    expect(await people.statusOf(userId)).toBe('active');
  });

  test('is not lost if the removal arrives while the assignment asks auth', async () => {
    const owner = await people.foundWithSeats(1);
    const member = billing.auth.join(owner.userId);
    billing.auth.beforeAnswer = () => remove(owner.userId, member);
    expect((await people.assign(owner, member.svc_user_id)).status).toBe(404);
    expect((await people.list(owner)).body.data).toEqual([{ plan_id: 'basic', quantity: 1, assigned: 0 }]);
  });

  test.each([
    ['canceled', 'canceled'],
    ['unpaid', 'unpaid'],
  ])('follows an order that is %s', async (played, status) => {
    const owner = await people.foundWithSeats(1);
    const { svc_user_id: userId } = billing.auth.join(owner.userId);
    await people.assign(owner, userId);
    await people.play(owner, 'past_due');
    expect(await people.noticesOf(owner.userId)).toMatchObject([
      { kind: 'payment_failed', plan: { name: '1 × Basic' } },
    ]);
    expect(await people.noticesOf(userId)).toEqual([]);
    expect(await people.statusOf(userId)).toBe('past_due');
    await people.play(owner, played);
    expect(await people.statusOf(userId)).toBe(status);
    expect((await people.factsOf(userId)).at(-1)).toMatchObject({
      subject: 'billing.subscription.ended.v1',
      payload: { status },
    });
    expect((await people.list(owner)).body.data).toEqual([]);
  });

  test('a renewal of the order renews all seats, of which one transaction changes only some', async () => {
    const owner = await people.foundWithSeats(105);
    const userIds = Array.from({ length: 105 }, () => billing.auth.join(owner.userId).svc_user_id);
    for (const userId of userIds) await people.assign(owner, userId);
    const [subscription] = people.paidBy(owner.userId);
    await people.advance(String(subscription?.metadata['svc_subscription_id']), 31 * 86_400);
    const facts = await billing
      .db('outbox')
      .whereIn(
        'aggregate',
        userIds.map((userId) => `subscription:${userId}`),
      )
      .where({ version: 2 })
      .pluck('payload');
    expect(facts.map(({ period }) => period.start)).toEqual(userIds.map(() => '2026-11-01T12:00:00.000Z'));
    expect(await billing.db('seat_orders').where({ svc_user_id: owner.userId }).first()).toMatchObject({
      is_followed: true,
    });
  });

  test('follows the erasure of the member, and that of the organization', async () => {
    const owner = await people.foundWithSeats(2);
    const first = billing.auth.join(owner.userId);
    const second = billing.auth.join(owner.userId);
    for (const { svc_user_id } of [first, second]) await people.assign(owner, svc_user_id);
    await people.end(first.svc_user_id, 'cancel');
    expect(await people.statusOf(first.svc_user_id)).toBe('active');
    await people.end(first.svc_user_id, 'erase');
    expect(await people.statusOf(first.svc_user_id)).toBe('canceled');
    await people.end(owner.userId, 'cancel');
    expect((await people.own(second.svc_user_id)).subscription.cancel_at_period_end).toBe(true);
    await people.end(owner.userId, 'keep');
    expect((await people.own(second.svc_user_id)).subscription.cancel_at_period_end).toBe(false);
    await people.end(owner.userId, 'erase');
    expect(await people.statusOf(second.svc_user_id)).toBe('canceled');
    expect(people.paidBy(owner.userId)).toEqual([]);
  });
});

test('the export of an organization has its orders, seats and limits, that of a member who pays', async () => {
  const owner = await people.foundWithSeats(2);
  const member = billing.auth.join(owner.userId);
  await people.assign(owner, member.svc_user_id);
  const limit = { token: owner.token, json: { monthly_limit_micros: 7 } };
  await billing.call('PUT', `/v1/console/organization/members/${member.svc_user_id}/limit`, limit);
  const exportOf = async (id: string) => (await billing.internal('GET', `/internal/billing/personal-data/${id}`)).body;
  expect(await exportOf(owner.userId)).toMatchObject({
    seat_orders: [{ plan_id: 'basic', quantity: 2, status: 'active' }],
    seats: [{ member_id: member.svc_user_id, ended_at: null }],
    member_limits: [{ member_id: member.svc_user_id, monthly_limit_micros: 7 }],
    subscriptions: [],
  });
  expect(await exportOf(member.svc_user_id)).toMatchObject({
    seats: [],
    subscriptions: [{ plan_id: 'basic', paid_by_organization_id: owner.userId }],
  });
});
