import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestSandbox, testSandbox } from './support/sandbox.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await testSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.setClock('2026-10-01T12:00:00.000Z'));

/** Buys a plan for 5 EUR a month as often as wanted. */
const buy = async (quantity: number, promotion_code?: string) => {
  const { customer, path, id } = await sandbox.startCheckout({ quantity });
  if (promotion_code !== undefined) await sandbox.submit(path, 'apply_code', { promotion_code });
  const { amount_total } = await sandbox.stripe.checkout.sessions.retrieve(id);
  await sandbox.call('POST', `${path}/complete`);
  const [subscription] = (await sandbox.stripe.subscriptions.list({ customer })).data;
  const [item] = subscription?.items.data ?? [];
  if (subscription === undefined || item === undefined) throw new Error('the subscription has not begun');
  return { customer, amount_total, id: subscription.id, item };
};
const totals = async (customer: string) =>
  (await sandbox.stripe.invoices.list({ customer })).data.map(({ total }) => total).toReversed();
const change = ({ id, item }: Awaited<ReturnType<typeof buy>>, quantity: number) =>
  sandbox.stripe.subscriptions.update(id, { items: [{ id: item.id, quantity }] });

test('charges the price as often as the quantity says, at the checkout and at each renewal', async () => {
  const bought = await buy(3);
  expect([bought.amount_total, bought.item.quantity]).toEqual([1500, 3]);
  sandbox.setClock('2026-11-01T12:00:00.000Z');
  await sandbox.run();
  expect(await totals(bought.customer)).toEqual([1500, 1500]);
});

test('charges a higher quantity for the rest of the period, and credits a lower one', async () => {
  const bought = await buy(2);
  sandbox.setClock('2026-10-17T00:00:00.000Z');
  expect((await change(bought, 4)).items.data[0]?.quantity).toBe(4);
  // 16 of 31 days are left, for two more.
  expect(await totals(bought.customer)).toEqual([1000, 516]);
  await change(bought, 3);
  sandbox.setClock('2026-11-01T12:00:00.000Z');
  await sandbox.run();
  expect(await totals(bought.customer)).toEqual([1000, 516, 1500 - 258]);
});

test('credits what was paid, once', async () => {
  const free = await buy(4, 'FIRSTFREE');
  await change(free, 1);
  const bought = await buy(4);
  await change(bought, 1);
  // The 5 EUR of the one that is left pay for the other plan, and so do the 15 EUR of the others.
  await sandbox.submit(await sandbox.openPortal(bought.customer), 'change_plan', { plan_id: 'full' });
  sandbox.setClock('2026-11-01T12:00:00.000Z');
  await sandbox.run();
  expect([await totals(free.customer), await totals(bought.customer)]).toEqual([
    [0, 500],
    [2000, 2000],
  ]);
});

test('changes nothing if the card declines the payment', async () => {
  const bought = await buy(1);
  const subscription = await sandbox.stripe.subscriptions.retrieve(bought.id);
  const id = subscription.metadata['svc_subscription_id'];
  await sandbox.call('PATCH', `/sandbox/payments/subscriptions/${id}`, { json: { card: 'declines_renewals' } });
  await expect(change(bought, 2)).rejects.toMatchObject({ type: 'StripeCardError' });
  expect((await sandbox.stripe.subscriptions.retrieve(bought.id)).items.data[0]?.quantity).toBe(1);
  expect(await totals(bought.customer)).toEqual([500]);
});
