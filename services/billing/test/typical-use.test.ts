import { newId } from '@svc/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { APP, type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
  await billing.setClock('2026-10-29T12:00:00Z');
});
afterAll(() => billing.stop());

const typicalUse = async (clientId = APP) =>
  (await billing.internal('GET', `/internal/apps/${clientId}/typical-use`)).body;

/** Makes an account that used the app on these days. */
const addUser = async (plan: 'basic' | 'full', micros: Record<string, number>, clientId = APP): Promise<void> => {
  const { userId } = await billing.subscribe(plan);
  const rows = Object.entries(micros).map(([day, cost_micros]) => ({
    svc_user_id: userId,
    client_id: clientId,
    service: 'chat',
    requests: 1,
    day,
    cost_micros,
  }));
  await billing.db('usage_days').insert(rows);
};

test('is the median share of the weekly limit in the last four weeks, once an app has 20 users', async () => {
  const outside = { '2026-10-29': 100_000, '2026-09-30': 100_000 };
  for (let user = 0; user < 9; user++) {
    await addUser('full', { '2026-10-01': 1_000, ...outside });
    await addUser('basic', { '2026-10-28': 5_000 });
  }
  // 12 % in both: the first on average over the two weeks of use, of which one spans two days.
  await addUser('full', { '2026-10-28': 6_000, '2026-10-21': 10_000, '2026-10-15': 8_000, ...outside });
  await addUser('full', outside);
  await addUser('full', { '2026-10-20': 0 });
  await addUser('full', { '2026-10-20': 50_000 }, newId('app'));
  expect(await typicalUse()).toEqual({ week_share_percent: null });
  await addUser('basic', { '2026-10-20': 120 });
  expect(await typicalUse()).toEqual({ week_share_percent: 12 });
  expect(await typicalUse(newId('app'))).toEqual({ week_share_percent: null });
});
