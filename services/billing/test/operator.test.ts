import { newId } from '@svc/contracts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { type TestBilling, testBilling } from './support/billing.ts';

const START = '2026-10-01T12:00:00Z';
const PATH = '/internal/operations/billing/uncertain-reservations';
let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock(START));
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const admitUncertain = async (userId: string): Promise<string> => {
  const { requestId } = await billing.admit(userId);
  await billing.settle(requestId, { outcome: 'uncertain' });
  return requestId;
};
const settle = async (requestId: string, cost_micros: number | null) =>
  (await billing.internal('POST', `${PATH}/${requestId}/settle`, { cost_micros })).body;
const usedBy = async (userId: string) => {
  const account = await billing.db('accounts').where({ svc_user_id: userId }).first('week_used_micros', 'pending');
  return [account.week_used_micros, account.pending];
};

describe('the operator routes of uncertain requests', () => {
  test('list them oldest first, in pages', async () => {
    const { userId } = await subscriber();
    const ids = [await admitUncertain(userId), await admitUncertain(userId), await admitUncertain(userId)];
    const first = (await billing.internal('GET', `${PATH}?limit=2`)).body;
    expect(first).toMatchObject({ has_more: true });
    const rest = (await billing.internal('GET', `${PATH}?limit=2&after=${first.data[1].request_id}`)).body;
    expect(rest.has_more).toBe(false);
    const listed = [...first.data, ...rest.data].map(({ request_id }: { request_id: string }) => request_id);
    expect(listed.sort()).toEqual(ids.sort());
    expect(first.data[0]).toMatchObject({ svc_user_id: userId, service: 'chat', estimate_micros: 100 });
    for (const id of ids) await settle(id, null);
  });

  test('settle each one once, at a proven cost or at its estimate', async () => {
    const { userId } = await subscriber();
    const proven = await admitUncertain(userId);
    const estimated = await admitUncertain(userId);
    expect(await settle(proven, 7)).toEqual({ request_id: proven, state: 'settled', settled: true });
    expect(await settle(proven, 9)).toEqual({ request_id: proven, state: 'settled', settled: false });
    expect(await settle(estimated, null)).toEqual({ request_id: estimated, state: 'settled', settled: true });
    expect(await settle(estimated, null)).toEqual({ request_id: estimated, state: 'settled', settled: false });
    expect(await usedBy(userId)).toEqual([107, 0]);
  });

  test('leave a reserved request unchanged, and return 404 for an unknown one', async () => {
    const { userId } = await subscriber();
    const { requestId } = await billing.admit(userId);
    expect(await settle(requestId, 5)).toEqual({ request_id: requestId, state: 'reserved', settled: false });
    expect(await usedBy(userId)).toEqual([0, 1]);
    expect((await billing.internal('POST', `${PATH}/${newId('req')}/settle`, { cost_micros: 5 })).status).toBe(404);
  });
});

const subscriber = async () => {
  const userId = newId('usr');
  await billing.subscribe('basic', userId);
  return { userId };
};
