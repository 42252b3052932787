import { newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestBilling, testBilling } from './support/billing.ts';
import {
  type AskedRequest,
  type GatewayAccount,
  gatewayAccounts,
  leaseAsk,
  reportOf,
} from './support/gateway-accounts.ts';

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

const LIMIT = { hold_micros: 1, tokens_per_minute: 100 };
const ask = (tokens: number, tokens_least = tokens) => accounts.ask(owner, { ...LIMIT, tokens, tokens_least });
const left = async () => (await ask(0)).answer.tokens_left;
/** Gives back tokens of a lease, as the end of its request does. */
const giveBack = async ({ leaseId, answer }: AskedRequest, tokens: number): Promise<void> => {
  const returned_in_minute = { ...answer.granted_in_minute, requests: 0, tokens };
  const asked = leaseAsk(
    owner,
    { ...LIMIT, lease_id: leaseId },
    { needs: [], report: reportOf({ returned_in_minute }) },
  );
  await accounts.sendOne(asked);
};

describe('tokens per minute', () => {
  test('grants the estimate, refuses a request beyond the limit, and resets with the next minute', async () => {
    const first = await ask(60);
    expect(first.body).toEqual({ verdict: 'granted', tokens: 60 });
    expect(first.answer).toMatchObject({ tokens_left: 40, minute_ends_in_ms: 60_000 });
    const refused = await ask(41);
    expect([refused.body.verdict, refused.answer.tokens_left]).toEqual(['rate_limit_exceeded', 40]);
    expect((await ask(40)).answer.tokens_left).toBe(0);
    await billing.setClock('2026-10-15T12:01:00Z');
    expect((await ask(100)).body).toEqual({ verdict: 'granted', tokens: 100 });
  });

  test('gets back what a request did not use, once, up to what its lease was granted', async () => {
    const asked = await ask(60);
    for (const [tokens, expected] of [
      [25, 65],
      [25, 65],
      [10, 65],
      [80, 100],
    ] as const) {
      await giveBack(asked, tokens);
      expect(await left()).toBe(expected);
    }
  });

  test('does not credit the current minute with tokens returned from an earlier minute', async () => {
    const asked = await ask(60);
    await billing.setClock('2026-10-15T12:01:00Z');
    await ask(50);
    await giveBack(asked, 60);
    expect(await left()).toBe(50);
  });

  test('gives a request without an output limit the remaining tokens, if they cover its input', async () => {
    await ask(70);
    expect((await ask(4_000, 31)).body.verdict).toBe('rate_limit_exceeded');
    expect((await ask(4_000, 30)).body).toEqual({ verdict: 'granted', tokens: 30 });
    expect(await left()).toBe(0);
  });

  test('never lets 200 parallel requests on several connections get more than the limit', async () => {
    const fields = { hold_micros: 1, tokens_per_minute: 1_000, tokens: 30, tokens_least: 30 };
    const answers = await Promise.all(Array.from({ length: 200 }, () => accounts.ask(owner, fields)));
    expect(answers.filter(({ body }) => body.verdict === 'granted')).toHaveLength(33);
  });
});

describe('idempotency keys', () => {
  test('are forgotten after 48 hours', async () => {
    await accounts.ask(owner, { idempotency_key: 'old' });
    await billing.setClock('2026-10-17T11:59:00Z');
    await billing.app.sweep();
    expect((await accounts.ask(owner, { idempotency_key: 'old' })).body.verdict).toBe('duplicate_request');
    await billing.setClock('2026-10-17T12:01:00Z');
    await billing.app.sweep();
    expect((await accounts.ask(owner, { idempotency_key: 'old' })).body.verdict).toBe('granted');
  });

  test('return the first request and its state, per API key', async () => {
    const first = await accounts.ask(owner, { idempotency_key: 'once' });
    const second = await accounts.ask(owner, { idempotency_key: 'once' });
    expect(second.body).toMatchObject({
      verdict: 'duplicate_request',
      duplicate_of: { request_id: first.requestId, state: 'reserved' },
    });
    await accounts.settle(first.requestId, { outcome: 'settled', cost_micros: 1 });
    expect((await accounts.ask(owner, { idempotency_key: 'once' })).body.duplicate_of?.state).toBe('settled');
    const other = { ...owner, keyId: newId('key') };
    expect((await accounts.ask(other, { idempotency_key: 'once' })).body.verdict).toBe('granted');
  });

  test('grant one of 20 parallel requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => accounts.ask(owner, { idempotency_key: 'parallel', hold_micros: 1 })),
    );
    const verdicts = answers.map(({ body }) => body.verdict);
    expect(verdicts.filter((verdict) => verdict === 'granted')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'duplicate_request')).toHaveLength(19);
  });
});

test('returns the spending of keys this month and the available balance', async () => {
  const { requestId } = await accounts.ask(owner);
  await accounts.settle(requestId, { outcome: 'settled', cost_micros: 250 });
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
