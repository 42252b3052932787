import { newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { admitKeyRequests } from '../src/reservations/admission-queries.ts';
import { settleReservations } from '../src/reservations/settlement-queries.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import { type GatewayAccount, gatewayAccounts, keyRequest } from './support/gateway-accounts.ts';

let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
let owner: GatewayAccount;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
});
afterAll(() => billing.stop());
beforeEach(async () => {
  await billing.setClock('2026-10-15T12:00:00Z');
  owner = await accounts.fund();
});

const ask = (tokens: number, more: Record<string, unknown> = {}) =>
  accounts.ask(owner, { hold_micros: 1, tokens_per_minute: 100, tokens, tokens_least: tokens, ...more });
const settle = (requestId: string, outcome: 'settled' | 'released' | 'uncertain', tokens: number | null) =>
  settleReservations(billing.db, [{ requestId, outcome, costMicros: outcome === 'settled' ? 1 : null, tokens }], 'EUR');
const remaining = async () => (await ask(0)).body.token_limit.remaining;

describe('tokens per minute', () => {
  test('reserves the estimate, refuses a request beyond the limit, and resets with the next minute', async () => {
    expect((await ask(60)).body).toMatchObject({
      verdict: 'admitted',
      token_limit: { limit: 100, remaining: 40, reset_ms: 60_000 },
    });
    expect((await ask(41)).body).toMatchObject({ verdict: 'rate_limit_exceeded', token_limit: { remaining: 40 } });
    expect((await ask(40)).body).toMatchObject({ verdict: 'admitted', token_limit: { remaining: 0 } });
    await billing.setClock('2026-10-15T12:01:00Z');
    expect((await ask(100)).body).toMatchObject({ verdict: 'admitted', token_limit: { remaining: 0 } });
  });

  test.each([
    ['settled', 25, 75],
    ['settled', 130, 0],
    ['settled', null, 40],
    ['released', null, 100],
    ['uncertain', null, 40],
  ] as const)('corrects the reservation of a %s request with %s tokens', async (outcome, tokens, left) => {
    const { requestId } = await ask(60);
    await settle(requestId, outcome, tokens);
    await settle(requestId, outcome, tokens);
    expect(await remaining()).toBe(left);
  });

  test('does not credit the current minute with tokens returned by a request of an earlier minute', async () => {
    const { requestId } = await ask(60);
    await billing.setClock('2026-10-15T12:01:00Z');
    await ask(50);
    await settle(requestId, 'settled', 10);
    expect(await remaining()).toBe(50);
  });

  test('gives a request without an output limit the remaining tokens, if they cover its input', async () => {
    await ask(70);
    expect((await ask(4_000, { tokens_least: 31 })).body.verdict).toBe('rate_limit_exceeded');
    expect((await ask(4_000, { tokens_least: 30 })).body).toMatchObject({
      verdict: 'admitted',
      token_limit: { remaining: 0 },
    });
  });

  test('never lets 200 parallel requests on several connections reserve more than the limit', async () => {
    const limits = { tokens_per_minute: 1_000, tokens: 30, tokens_least: 30 };
    const inputs = Array.from({ length: 200 }, () => keyRequest(owner, { hold_micros: 1, ...limits }));
    const groups = Array.from({ length: 20 }, (_, index) => inputs.slice(index * 10, index * 10 + 10));
    const decisions = (await Promise.all(groups.map((group) => admitKeyRequests(billing.db, group)))).flat();
    expect(decisions.filter(({ verdict }) => verdict === 'admitted')).toHaveLength(33);
  });
});

describe('idempotency keys', () => {
  test('return the first request and its state, per API key', async () => {
    const first = await accounts.ask(owner, { idempotency_key: 'once' });
    const second = await accounts.ask(owner, { idempotency_key: 'once' });
    expect(second.body).toMatchObject({
      verdict: 'duplicate_request',
      duplicate_of: { request_id: first.requestId, state: 'reserved' },
    });
    await settle(first.requestId, 'settled', null);
    expect((await accounts.ask(owner, { idempotency_key: 'once' })).body.duplicate_of.state).toBe('settled');
    const other = { ...owner, keyId: newId('key') };
    expect((await accounts.ask(other, { idempotency_key: 'once' })).body.verdict).toBe('admitted');
  });

  test('admit one of 20 parallel requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => accounts.ask(owner, { idempotency_key: 'parallel', hold_micros: 1 })),
    );
    const verdicts = answers.map(({ body }) => body.verdict);
    expect(verdicts.filter((verdict) => verdict === 'admitted')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'duplicate_request')).toHaveLength(19);
  });
});

test('returns the spending of keys this month and the available balance', async () => {
  const { requestId } = await accounts.ask(owner);
  await settleReservations(billing.db, [{ requestId, outcome: 'settled', costMicros: 250 }], 'EUR');
  await accounts.ask(owner, { hold_micros: 1_000 });
  const read = async (userId = owner.userId) =>
    (
      await billing.internal('POST', `/internal/accounts/${userId}/key-spending`, {
        key_ids: [newId('key'), owner.keyId],
      })
    ).body;
  expect(await read()).toEqual({
    spent_this_month_micros: [0, 250],
    wallet: { available_micros: 10_000_000 - 1_250, currency: 'EUR' },
  });
  expect(await read(newId('usr'))).toEqual({
    spent_this_month_micros: [0, 0],
    wallet: { available_micros: 0, currency: 'EUR' },
  });
  await billing.setClock('2026-11-01T00:00:00Z');
  expect((await read()).spent_this_month_micros).toEqual([0, 0]);
});
