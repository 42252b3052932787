import { newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestSandbox, testSandbox } from './support/sandbox.ts';

const START = '2026-10-01T12:00:00.000Z';
const DAY = 86_400;
let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await testSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.setClock(START));

const control = (id: string) => `/sandbox/payments/subscriptions/${id}`;
const advance = async (id: string, days: number) =>
  (await sandbox.call('POST', `${control(id)}/advance`, { json: { seconds: days * DAY } })).body;
const set = (id: string, json: object) => sandbox.call('PATCH', control(id), { json });
const play = (id: string, status: string) => sandbox.call('POST', control(id), { json: { status } });
const on = (day: string) => `${day}T12:00:00.000Z`;

test('renews each period that the clock passes, one after the other', async () => {
  const { customer, id } = await sandbox.subscribe();
  expect(await advance(id, 30)).toMatchObject({ status: 'active', clock: on('2026-10-31') });
  expect(await advance(id, 1)).toEqual({
    id,
    status: 'active',
    clock: on('2026-11-01'),
    current_period_start: on('2026-11-01'),
    current_period_end: on('2026-12-01'),
    cancel_at_period_end: false,
    card: 'succeeds',
    when_unpaid: 'canceled',
    failed_attempts: 0,
    next_attempt_at: null,
  });
  await advance(id, 61);
  expect(sandbox.merchant.historyOf(customer)).toEqual(
    ['2026-11-01', '2026-12-01', '2027-01-01', '2027-02-01'].map((day) => ['active', on(day)]),
  );
});

test('leaves other subscriptions on the real clock', async () => {
  const one = await sandbox.subscribe();
  const other = await sandbox.subscribe();
  await advance(one.id, 40);
  await sandbox.run();
  expect(sandbox.merchant.historyOf(other.customer)).toEqual([['active', on('2026-11-01')]]);
});

test.each([
  ['canceled', 'declines_renewals'],
  ['unpaid', 'asks_to_confirm'],
])('retries a failed renewal three times and then sets the status %s', async (end, card) => {
  const { customer, id } = await sandbox.subscribe();
  await set(id, { card, when_unpaid: end });
  expect(await advance(id, 31)).toMatchObject({
    status: 'past_due',
    failed_attempts: 1,
    next_attempt_at: on('2026-11-04'),
    current_period_start: on('2026-11-01'),
    current_period_end: on('2026-12-01'),
  });
  expect(await advance(id, 3)).toMatchObject({ failed_attempts: 2, next_attempt_at: on('2026-11-09') });
  expect(await advance(id, 5)).toMatchObject({ failed_attempts: 3, next_attempt_at: on('2026-11-16') });
  expect(await advance(id, 7)).toMatchObject({ status: end, failed_attempts: 4, next_attempt_at: null });
  expect(await advance(id, 300)).toMatchObject({ status: end });
  expect(sandbox.merchant.historyOf(customer)).toEqual([
    ['active', on('2026-11-01')],
    ['past_due', on('2026-12-01')],
    [end, on('2026-11-16')],
  ]);
});

test('recovers at the next retry with a card that pays, and renews from there', async () => {
  const { customer, id } = await sandbox.subscribe();
  await set(id, { card: 'declines_renewals' });
  await advance(id, 35);
  await set(id, { card: 'succeeds' });
  expect(await advance(id, 4)).toMatchObject({ status: 'active', failed_attempts: 0 });
  expect(sandbox.merchant.historyOf(customer).at(-1)).toEqual(['active', on('2026-12-01')]);
  expect(await advance(id, 31)).toMatchObject({ status: 'active', current_period_end: on('2027-01-01') });
});

test('ends a subscription that was cancelled for the end of its period', async () => {
  const { customer, id } = await sandbox.subscribe();
  await sandbox.submit(await sandbox.openPortal(customer), 'cancel');
  expect(await advance(id, 30)).toMatchObject({ status: 'active', cancel_at_period_end: true });
  expect(await advance(id, 1)).toMatchObject({ status: 'canceled' });
  expect(sandbox.merchant.historyOf(customer).at(-1)).toEqual(['canceled', on('2026-11-01')]);
});

test.each([
  ['active', 'succeeds'],
  ['past_due', 'declines_renewals'],
])('sets the status %s at the end of a trial with the card %s', async (status, card) => {
  const { id } = await sandbox.subscribe();
  await play(id, 'trialing');
  await set(id, { card });
  expect(await advance(id, 30)).toMatchObject({ status: 'trialing' });
  expect(await advance(id, 1)).toMatchObject({ status, current_period_start: on('2026-11-01') });
});

test('starts the retries of a played status only when its clock is moved', async () => {
  const { customer, id } = await sandbox.subscribe();
  await set(id, { card: 'declines_renewals' });
  await play(id, 'past_due');
  await sandbox.setClock('2026-10-20T12:00:00Z');
  await sandbox.run();
  expect(await sandbox.current(customer)).toMatchObject({ status: 'past_due' });
  expect(await advance(id, 15)).toMatchObject({ status: 'canceled', failed_attempts: 4 });
});

test('refuses to play a status after a final one', async () => {
  const { id } = await sandbox.subscribe();
  await play(id, 'canceled');
  const answer = await play(id, 'active');
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'status']]);
});

test('keeps a month-end anchor: 31 January, 28 February, 31 March', async () => {
  await sandbox.setClock('2026-01-31T12:00:00Z');
  const { customer, id } = await sandbox.subscribe();
  await advance(id, 120);
  expect(sandbox.merchant.historyOf(customer).map(([, end]) => end)).toEqual(
    ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30'].map(on),
  );
});

test('renews once per period while the periodic work runs at the same time', async () => {
  const { customer, id } = await sandbox.subscribe();
  await Promise.all([advance(id, 62), ...Array.from({ length: 4 }, () => sandbox.run())]);
  await sandbox.run();
  expect(await advance(id, 1)).toMatchObject({ clock: on('2026-12-03'), current_period_end: on('2027-01-01') });
  const [item] = (await sandbox.current(customer))?.items.data ?? [];
  expect(item?.current_period_end).toBe(Date.parse(on('2027-01-01')) / 1000);
});

test('announces a change again that the merchant failed to accept', async () => {
  const { customer, path } = await sandbox.startCheckout();
  const { merchant } = sandbox;
  merchant.isDown = true;
  expect((await sandbox.call('POST', `${path}/complete`)).status).toBe(200);
  expect(merchant.historyOf(customer)).toEqual([]);
  merchant.isDown = false;
  await sandbox.run();
  expect(merchant.historyOf(customer)).toEqual([['active', on('2026-11-01')]]);
});

test('returns 404 for an unknown subscription', async () => {
  expect((await sandbox.call('POST', `${control(newId('sub'))}/advance`, { json: { seconds: 1 } })).status).toBe(404);
  expect((await sandbox.call('PATCH', control(newId('sub')), { json: {} })).status).toBe(404);
});

test('refuses an unknown card, and a move of no time, of too much, or beyond the range of dates', async () => {
  const { id } = await sandbox.subscribe();
  for (const seconds of [0, -5, 1.5, 366 * DAY + 1]) {
    const answer = await sandbox.call('POST', `${control(id)}/advance`, { json: { seconds } });
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'seconds']]);
  }
  expect((await set(id, { card: 'gold' })).status).toBe(422);
  for (let year = 0; year < 20; year += 1) await advance(id, 366);
  const answer = await sandbox.call('POST', `${control(id)}/advance`, { json: { seconds: 1 } });
  expect(answer.body.detail[0]).toMatchObject({ loc: ['body', 'seconds'], type: 'value_error' });
});
