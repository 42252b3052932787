import { newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock('2026-10-01T12:00:00Z'));

interface Owner {
  readonly userId: string;
  readonly keyId: string;
}

const NO_LIMITS = { requests_per_minute: null, monthly_limit_micros: null };

const createOwner = async (balanceMicros: number): Promise<Owner> => {
  const userId = newId('usr');
  if (balanceMicros > 0) await billing.db.raw("SELECT wallet_credit(?, ?, 'EUR', ?)", [userId, balanceMicros, userId]);
  return { userId, keyId: newId('key') };
};
const standing = async ({ userId, keyId }: Owner, limits: object = NO_LIMITS) =>
  (await billing.internal('POST', `/internal/accounts/${userId}/key-standing`, { key_id: keyId, ...limits })).body;
const admit = async ({ userId, keyId }: Owner, holdMicros: number, limits: object = NO_LIMITS) => {
  const requestId = newId('req');
  const request = { kind: 'api_key', request_id: requestId, svc_user_id: userId, key_id: keyId };
  const { body } = await billing.internal('POST', '/internal/admissions', {
    ...request,
    hold_micros: holdMicros,
    ...limits,
  });
  expect(body.verdict).toBe('admitted');
  return requestId;
};

describe('the standing of a key', () => {
  test('is insufficient_balance without a wallet, and while the whole balance is held', async () => {
    expect(await standing(await createOwner(0))).toEqual({ verdict: 'insufficient_balance' });
    const owner = await createOwner(100);
    expect(await standing(owner)).toEqual({ verdict: 'admitted' });
    const requestId = await admit(owner, 100);
    expect(await standing(owner)).toEqual({ verdict: 'insufficient_balance' });
    await billing.settle(requestId, { outcome: 'released' });
    expect(await standing(owner)).toEqual({ verdict: 'admitted' });
  });

  test('is rate_limit_exceeded until the minute ends', async () => {
    const owner = await createOwner(100);
    const limits = { ...NO_LIMITS, requests_per_minute: 1 };
    await admit(owner, 1, limits);
    await billing.setClock('2026-10-01T12:00:20Z');
    expect(await standing(owner, limits)).toEqual({
      verdict: 'rate_limit_exceeded',
      rate_limit: { limit: 1, remaining: 0, reset_ms: 40_000 },
    });
    await billing.setClock('2026-10-01T12:01:00Z');
    expect(await standing(owner, limits)).toMatchObject({ verdict: 'admitted', rate_limit: { remaining: 1 } });
  });

  test('is key_monthly_limit_exceeded until the calendar month ends', async () => {
    const owner = await createOwner(100);
    const limits = { ...NO_LIMITS, monthly_limit_micros: 10 };
    await billing.settle(await admit(owner, 10, limits), { outcome: 'settled', cost_micros: 10 });
    expect(await standing(owner, limits)).toEqual({
      verdict: 'key_monthly_limit_exceeded',
      resets_at: '2026-11-01T00:00:00.000Z',
    });
    await billing.setClock('2026-11-01T00:00:00Z');
    expect(await standing(owner, limits)).toEqual({ verdict: 'admitted' });
  });
});
