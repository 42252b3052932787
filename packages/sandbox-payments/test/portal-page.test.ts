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
  return { path, locationAfter, control, current: () => sandbox.host.current(customer) };
};

test('cancels for the end of the period, resumes, changes the plan and returns', async () => {
  const { path, locationAfter, current } = await open();
  expect((await see(path)).text).toMatch(/Basic <span class="tag good">active/);
  expect(await locationAfter('cancel')).toBe(`${path}?notice=canceled`);
  expect(current()).toMatchObject({ cancelAtPeriodEnd: true });
  expect((await see(`${path}?notice=canceled`)).text).toMatch(/will end with this period[\s\S]*Keep the subscription/);
  await submit(path, 'resume');
  expect(current()).toMatchObject({ cancelAtPeriodEnd: false });
  await submit(path, 'change_plan', { plan_id: 'yearly' });
  expect(current()?.planId).toBe('yearly');
  expect(Number(current()?.periodEnd) - Number(current()?.periodStart)).toBeGreaterThan(360 * 86_400_000);
  expect(await locationAfter('return')).toBe(RETURNS.cancelUrl);
});

test('shows a failed renewal, which a card that pays settles', async () => {
  const { path, locationAfter, control, current } = await open();
  expect(await locationAfter('change_card', { card: 'declines_renewals' })).toBe(`${path}?notice=card_saved`);
  await sandbox.call('POST', `${control}/advance`, { json: { seconds: 32 * 86_400 } });
  expect(current()).toMatchObject({ status: 'past_due' });
  expect((await see(path)).text).toMatch(/The last payment failed[\s\S]*Pay €5.00 now/);
  expect(await locationAfter('pay')).toBe(`${path}?notice=declined`);
  expect(await locationAfter('change_card', { card: 'declines' })).toBe(`${path}?notice=declined`);
  await submit(path, 'change_card', { card: 'asks_to_confirm' });
  expect(await locationAfter('confirm')).toBe(path);
  await submit(path, 'pay');
  expect((await see(path)).text).toContain('do you want to pay €5.00 to svc?');
  expect(await locationAfter('fail')).toBe(`${path}?notice=not_confirmed`);
  expect(current()).toMatchObject({ status: 'past_due' });
  await submit(path, 'pay');
  expect(await locationAfter('confirm')).toBe(`${path}?notice=paid`);
  expect(current()).toMatchObject({ status: 'active' });
  expect(await locationAfter('pay')).toBe(path);
});

test('pays an unpaid subscription, and shows none once it is canceled', async () => {
  const { path, locationAfter, control, current } = await open();
  const play = (status: string) => sandbox.call('POST', control, { json: { status } });
  await play('unpaid');
  expect(await locationAfter('pay')).toBe(`${path}?notice=paid`);
  expect(current()).toMatchObject({ status: 'active' });
  await play('canceled');
  expect((await see(path)).text).toContain('You have no subscription');
  expect(await locationAfter('resume')).toBe(path);
});

test('changes to another billing interval only with a card that pays', async () => {
  const { path, locationAfter, current } = await open();
  await submit(path, 'change_card', { card: 'declines_renewals' });
  expect(await locationAfter('change_plan', { plan_id: 'yearly' })).toBe(`${path}?notice=declined`);
  await submit(path, 'change_plan', { plan_id: 'full' });
  expect(current()).toMatchObject({ planId: 'full' });
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

test('answers 404 for an unknown visit, and after an hour', async () => {
  const { path } = await open();
  await sandbox.setClock(new Date(Date.now() + 3_601_000));
  expect((await see(path)).status).toBe(404);
  await sandbox.setClock(null);
  expect((await see(path)).status).toBe(200);
  expect((await sandbox.call('GET', '/sandbox/payments/portal/none')).status).toBe(404);
});
