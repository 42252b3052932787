import { newId } from '@svc/contracts';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { current, deliver, subscribe, factsOf, checkout } = people;
afterAll(stop);
beforeEach(reset);

type Owner = Awaited<ReturnType<typeof subscribe>>;
const paymentOf = ({ stripeId }: Owner) => {
  const invoice = stripe.object(stripeId)['latest_invoice'];
  return stripe.list('invoice_payment').find((payment) => payment['invoice'] === invoice)?.['payment_intent'];
};
const dispute = (owner: Owner, status: string) =>
  stripe.add('dispute', { payment_intent: paymentOf(owner), amount: 500, currency: 'eur', status });
const tell = (id: string, type = 'closed') => deliver(stripe.event(`charge.dispute.${type}`, id));

test('of a payment takes nothing while it is open, and makes the subscription unpaid once it is lost', async () => {
  const owner = await subscribe();
  const id = dispute(owner, 'needs_response');
  expect((await tell(id, 'created')).status).toBe(200);
  expect(await current(owner.token)).toMatchObject({ status: 'active' });
  stripe.update(id, { status: 'lost' });
  await Promise.all([tell(id), tell(id, 'funds_withdrawn'), tell(id)]);
  expect(await current(owner.token)).toMatchObject({ status: 'unpaid' });
  const { answer } = await billing.admit(owner.userId);
  expect(answer.body.verdict).toBe('subscription_inactive');
  const facts = await factsOf(owner.userId);
  expect(facts.map(({ status }) => status)).toEqual(['active', 'unpaid']);
  expect(facts[1].ended_at).toBeDefined();
  // Nothing more is charged to a person who took the money back, who can buy again.
  expect(stripe.object(owner.stripeId)).toMatchObject({ status: 'active', cancel_at_period_end: true });
  expect((await checkout(owner.token)).status).toBe(200);
});

test('returns the subscription to the state at Stripe if it is won after all', async () => {
  const owner = await subscribe();
  const id = dispute(owner, 'lost');
  await tell(id);
  expect(await current(owner.token)).toMatchObject({ status: 'unpaid' });
  const late = stripe.event('charge.dispute.closed', id);
  stripe.update(id, { status: 'won' });
  await tell(id, 'funds_reinstated');
  await deliver(late);
  expect(await current(owner.token)).toMatchObject({ status: 'active' });
  expect((await billing.admit(owner.userId)).answer.body.verdict).toBe('admitted');
});

test('stays lost through other events of the subscription, until a later period is paid', async () => {
  const owner = await subscribe();
  await tell(dispute(owner, 'lost'));
  await deliver(stripe.event('customer.subscription.updated', owner.stripeId));
  expect(await current(owner.token)).toMatchObject({ status: 'unpaid' });
  const [item] = Object(stripe.object(owner.stripeId)['items']).data;
  const start = item.current_period_end;
  const items = { data: [{ ...item, current_period_start: start, current_period_end: start + 31 * 86_400 }] };
  // The owner has resumed it, but the renewal is declined: no days of grace follow a loss.
  stripe.update(owner.stripeId, { items, status: 'past_due', cancel_at_period_end: false });
  await deliver(stripe.event('customer.subscription.updated', owner.stripeId));
  expect(await current(owner.token)).toMatchObject({ status: 'unpaid' });
  expect((await billing.admit(owner.userId)).answer.body.verdict).toBe('subscription_inactive');
  stripe.update(owner.stripeId, { status: 'active' });
  await deliver(stripe.event('invoice.paid', String(stripe.object(owner.stripeId)['latest_invoice'])));
  expect(await current(owner.token)).toMatchObject({ status: 'active' });
});

test('is not undone by a second dispute or refund of the payment', async () => {
  const owner = await subscribe();
  const payment_intent = paymentOf(owner);
  await tell(dispute(owner, 'lost'));
  await tell(dispute(owner, 'won'));
  const refund = { payment_intent, amount: 100, currency: 'eur', status: 'succeeded', metadata: {} };
  await deliver(stripe.event('refund.created', stripe.add('refund', refund)));
  expect(await current(owner.token)).toMatchObject({ status: 'unpaid' });
});

test('of a payment that belongs to no account here is ignored', async () => {
  const id = stripe.add('dispute', {
    payment_intent: newId('req'),
    amount: 5,
    currency: 'xxx',
    status: 'lost',
  });
  expect((await tell(id)).status).toBe(200);
});
