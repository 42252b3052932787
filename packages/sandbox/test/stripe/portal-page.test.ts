import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RETURNS, type TestSandbox, testSandbox } from './support/sandbox.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await testSandbox();
});
afterAll(() => sandbox.stop());
afterEach(() => sandbox.setClock(null));

const submit: TestSandbox['submit'] = (...args) => sandbox.submit(...args);
const see = (path: string) => sandbox.call('GET', path, { headers: { 'accept-language': 'en' } });
const open = async () => {
  const { customer, id } = await sandbox.subscribe();
  const path = await sandbox.openPortal(customer);
  const locationAfter = async (action: string, fields?: Record<string, string>) =>
    (await submit(path, action, fields)).headers.get('location');
  const control = `/sandbox/payments/subscriptions/${id}`;
  return { path, locationAfter, control, current: () => sandbox.current(customer) };
};

test('cancels for the end of the period, resumes, changes the plan and returns', async () => {
  const { path, locationAfter, current } = await open();
  expect((await see(path)).text).toMatch(/Basic <span class="tag good">active/);
  expect(await locationAfter('cancel')).toBe(`${path}?notice=canceled`);
  expect(await current()).toMatchObject({ cancel_at_period_end: true });
  expect((await see(`${path}?notice=canceled`)).text).toMatch(/will end with this period[\s\S]*Keep the subscription/);
  await submit(path, 'resume');
  expect(await current()).toMatchObject({ cancel_at_period_end: false });
  await submit(path, 'change_plan', { plan_id: 'yearly' });
  const [item] = (await current())?.items.data ?? [];
  expect(item?.price.id).toBe('price_of_yearly');
  expect(Number(item?.current_period_end) - Number(item?.current_period_start)).toBeGreaterThan(360 * 86_400);
  expect(await locationAfter('return')).toBe(RETURNS.cancelUrl);
});

test('shows a failed renewal, which a card that pays settles', async () => {
  const { path, locationAfter, control, current } = await open();
  expect(await locationAfter('change_card', { card: 'declines_renewals' })).toBe(`${path}?notice=card_saved`);
  await sandbox.call('POST', `${control}/advance`, { json: { seconds: 32 * 86_400 } });
  expect(await current()).toMatchObject({ status: 'past_due' });
  expect((await see(path)).text).toMatch(/The last payment failed[\s\S]*Pay €5.00 now/);
  expect(await locationAfter('pay')).toBe(`${path}?notice=declined`);
  expect(await locationAfter('change_card', { card: 'declines' })).toBe(`${path}?notice=declined`);
  await submit(path, 'change_card', { card: 'asks_to_confirm' });
  expect(await locationAfter('confirm')).toBe(path);
  await submit(path, 'pay');
  expect((await see(path)).text).toContain('do you want to pay €5.00 to svc?');
  expect(await locationAfter('fail')).toBe(`${path}?notice=not_confirmed`);
  expect(await current()).toMatchObject({ status: 'past_due' });
  await submit(path, 'pay');
  expect(await locationAfter('confirm')).toBe(`${path}?notice=paid`);
  expect(await current()).toMatchObject({ status: 'active' });
  expect(await locationAfter('pay')).toBe(path);
});

test('pays an unpaid subscription, and shows none once it is canceled', async () => {
  const { path, locationAfter, control, current } = await open();
  const play = (status: string) => sandbox.call('POST', control, { json: { status } });
  await play('unpaid');
  expect(await locationAfter('pay')).toBe(`${path}?notice=paid`);
  expect(await current()).toMatchObject({ status: 'active' });
  await play('canceled');
  expect((await see(path)).text).toContain('You have no subscription');
  expect(await locationAfter('resume')).toBe(path);
});

test('shows what a change of plan costs now, invoices that, and keeps the rest as credit', async () => {
  await sandbox.setClock(new Date('2026-06-01T00:00:00Z'));
  const { customer, id } = await sandbox.subscribe();
  await sandbox.setClock(new Date('2026-06-16T00:00:00Z'));
  const path = await sandbox.openPortal(customer);
  const invoices = async () =>
    (await sandbox.stripe.invoices.list({ customer })).data.map(({ description, total }) => [description, total / 100]);
  const page = (await see(path)).text;
  expect(page).toMatch(/value="basic" required checked><span>Basic<small>€5.00 per month · your plan/);
  expect(page).toContain('€20.00 per month · due now: €7.50');
  expect(page).toContain('€200.00 per year · due now: €197.50');
  await submit(path, 'change_plan', { plan_id: 'basic' });
  await submit(path, 'change_plan', { plan_id: 'full' });
  await submit(path, 'change_plan', { plan_id: 'yearly' });
  expect(await invoices()).toEqual([
    ['Subscription to Yearly', 190],
    ['Subscription to Full', 7.5],
    ['Subscription to Basic', 5],
  ]);
  expect((await see(path)).text).toContain('€5.00 per month · nothing due now, credit of €195.00');
  await submit(path, 'change_plan', { plan_id: 'basic' });
  expect((await see(path)).text).toContain('Credit for your next payments: €195.00');
  await sandbox.call('POST', `/sandbox/payments/subscriptions/${id}/advance`, { json: { seconds: 30 * 86_400 } });
  expect((await invoices())[0]).toEqual(['Subscription to Basic', 0]);
  expect((await see(path)).text).toContain('Credit for your next payments: €190.00');
});

test('credits nothing for a period that a promotion code made free', async () => {
  await sandbox.setClock(new Date('2026-07-01T00:00:00Z'));
  const checkout = await sandbox.startCheckout({ planId: 'yearly' });
  await sandbox.submit(checkout.path, 'apply_code', { promotion_code: 'firstfree' });
  await sandbox.submit(checkout.path, 'pay', { card: 'succeeds' });
  const path = await sandbox.openPortal(checkout.customer);
  expect((await see(path)).text).toContain('€5.00 per month · due now: €5.00');
  await submit(path, 'change_plan', { plan_id: 'basic' });
  expect((await see(path)).text).not.toContain('Credit for your next payments');
});

test('changes to a dearer plan only with a card that pays', async () => {
  const { path, locationAfter, current } = await open();
  await submit(path, 'change_card', { card: 'declines_renewals' });
  for (const plan_id of ['yearly', 'full']) {
    expect(await locationAfter('change_plan', { plan_id })).toBe(`${path}?notice=declined`);
  }
  expect((await current())?.items.data[0]?.price.id).toBe('price_of_basic');
});

test.each([
  ['change_card', {}, 'card', 'missing'],
  ['change_plan', {}, 'plan_id', 'missing'],
  ['change_plan', { plan_id: 'none' }, 'plan_id', 'value_error'],
])('refuses %s with %j', async (action, fields, field, type) => {
  const { path } = await open();
  const { body } = await submit(path, action, fields);
  expect(body.detail[0]).toMatchObject({ loc: ['form', field], type });
});

test('returns 404 for an unknown visit, and after an hour', async () => {
  const { path } = await open();
  await sandbox.setClock(new Date(Date.now() + 3_601_000));
  expect((await see(path)).status).toBe(404);
  await sandbox.setClock(null);
  expect((await see(path)).status).toBe(200);
  expect((await sandbox.call('GET', '/sandbox/payments/portal/none')).status).toBe(404);
});
