import { randomUUID } from 'node:crypto';
import { newId } from '@svc/contracts';
import { createDatabase } from '@svc/database';
import { createLogger, createMetrics } from '@svc/service-kit';
import fc from 'fast-check';
import type { Knex } from 'knex';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { grantLeases, type LeaseDeps } from '../src/leases/ask-leases.ts';
import { createLeaseMeters, settleKeyRequests } from '../src/leases/index.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import { type GatewayAccount, gatewayAccounts, HOLDER, leaseAsk, reportOf } from './support/gateway-accounts.ts';

const START = new Date('2026-10-15T12:00:00Z');
const NEXT_MONTH = '2026-11-01T00:00:00.000Z';
let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
let second: Knex;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
  second = createDatabase(String(billing.environment['DATABASE_URL']), { applicationName: 'second', poolMax: 4 });
});
afterAll(async () => {
  await second?.destroy();
  await billing.stop();
});
beforeEach(() => billing.setClock(START));
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

interface Organization extends GatewayAccount {
  readonly member: string;
  /** Two API keys of the member. */
  readonly keys: readonly [Key, Key];
}
type Key = { readonly userId: string; readonly keyId: string };

/** Founds an organization with money, and with a member who has two API keys. */
const found = async (amountMicros = 10_000_000): Promise<Organization> => {
  const { userId, keyId } = await accounts.fund(amountMicros);
  const token = await billing.tokens.consoleSession({ userId, accountType: 'business' });
  const member = billing.auth.join(userId).svc_user_id;
  const newKey = (): Key => ({ userId, keyId: newId('key') });
  return { userId, keyId, token, member, keys: [newKey(), newKey()] };
};
const limit = ({ token }: GatewayAccount, member: string, monthly_limit_micros: number | null) =>
  billing.call('PUT', `/v1/console/organization/members/${member}/limit`, { token, json: { monthly_limit_micros } });
const limitOf = async ({ token, member }: Organization) =>
  (await billing.call('GET', `/v1/console/organization/members/${member}/limit`, { token })).body;
/** Makes a request with one of the member's keys that costs its hold. Returns the decision. */
const spend = async ({ keys, member }: Organization, key: 0 | 1, micros: number) => {
  const { requestId, body } = await accounts.ask(keys[key], { hold_micros: micros, member_id: member });
  if (body.verdict === 'granted') await accounts.settle(requestId, { outcome: 'settled', cost_micros: micros });
  return body;
};

describe('the monthly limit of a member', () => {
  test('bounds all keys of the member together, and no others', async () => {
    const organization = await found();
    expect((await limit(organization, organization.member, 1_000_000)).body).toEqual({
      monthly_limit_micros: 1_000_000,
    });
    expect(await limitOf(organization)).toEqual({ monthly_limit_micros: 1_000_000 });
    expect((await spend(organization, 0, 600_000)).verdict).toBe('granted');
    expect(await spend(organization, 1, 500_000)).toEqual({
      verdict: 'member_monthly_limit_exceeded',
      available_micros: 400_000,
      resets_at: NEXT_MONTH,
    });
    expect((await spend(organization, 1, 400_000)).verdict).toBe('granted');
    const other = billing.auth.join(organization.userId).svc_user_id;
    const free = await accounts.ask(
      { ...organization, keyId: newId('key') },
      { hold_micros: 900_000, member_id: other },
    );
    expect(free.body.verdict).toBe('granted');
    const own = await accounts.ask(organization, { hold_micros: 900_000 });
    expect(own.body.verdict).toBe('granted');
  });

  test('counts what was spent before it was set, and begins anew with the month', async () => {
    const organization = await found();
    await spend(organization, 0, 700_000);
    await limit(organization, organization.member, 1_000_000);
    expect((await spend(organization, 1, 400_000)).verdict).toBe('member_monthly_limit_exceeded');
    await billing.setClock(NEXT_MONTH);
    expect((await spend(organization, 1, 400_000)).verdict).toBe('granted');
    expect((await spend(organization, 0, 700_000)).verdict).toBe('member_monthly_limit_exceeded');
    await limit(organization, organization.member, null);
    expect((await spend(organization, 0, 700_000)).verdict).toBe('granted');
  });

  test('grants a request that accepts less what is left', async () => {
    const organization = await found();
    await limit(organization, organization.member, 1_000_000);
    await spend(organization, 0, 900_000);
    const fields = { hold_micros: 500_000, micros_least: 50_000, member_id: organization.member };
    expect((await accounts.ask(organization.keys[1], fields)).body).toMatchObject({
      verdict: 'granted',
      micros: 100_000,
    });
  });

  test('writes off what a request costs beyond it', async () => {
    const organization = await found();
    await limit(organization, organization.member, 1_000_000);
    const { requestId } = await accounts.ask(organization.keys[0], {
      hold_micros: 800_000,
      member_id: organization.member,
    });
    await accounts.settle(requestId, { outcome: 'settled', cost_micros: 1_500_000 });
    expect((await accounts.wallet(organization.token)).balance_micros).toBe(9_000_000);
  });

  test('recalls what a gateway holds ahead for the keys when it is lowered, and for a request on another key', async () => {
    const organization = await found();
    const { keys, member } = organization;
    const ask = leaseAsk(
      keys[0],
      { hold_micros: 1_000, member_id: member },
      {
        wanted: { micros: 200_000, requests: 0, tokens: 0 },
      },
    );
    await billing
      .db('holders')
      .insert({ holder_id: HOLDER, internal_url: 'http://gateway.test', expires_at: new Date('2026-10-15T12:01:00Z') })
      .onConflict('holder_id')
      .merge();
    const held = async () => (await accounts.wallet(organization.token)).held_micros;
    const recalled: string[] = [];
    billing.recallLeases = async ({ leaseIds }) => {
      recalled.push(...leaseIds);
      // One request of 1 000 micros runs. The rest is unspent.
      return leaseIds.map((lease_id) => ({ lease_id, report: reportOf({ returned_micros: 200_000 }) }));
    };
    await accounts.sendOne(ask);
    expect(await held()).toBe(201_000);
    await limit(organization, member, 5_000);
    expect([recalled, await held()]).toEqual([[ask.lease_id], 1_000]);
    await limit(organization, member, 500_000);
    const again = leaseAsk(
      keys[0],
      { hold_micros: 1_000, member_id: member },
      { wanted: { micros: 60_000, requests: 0, tokens: 0 } },
    );
    await accounts.sendOne(again);
    const unspent = new Map([
      [ask.lease_id, 200_000],
      [again.lease_id, 60_000],
    ]);
    billing.recallLeases = async ({ leaseIds }) =>
      leaseIds.map((lease_id) => ({ lease_id, report: reportOf({ returned_micros: unspent.get(lease_id) ?? 0 }) }));
    const fields = { hold_micros: 498_000, member_id: member };
    expect((await accounts.ask(keys[1], fields)).body.verdict).toBe('granted');
    expect((await accounts.ask(keys[1], { ...fields, hold_micros: 1 })).body.verdict).toBe(
      'member_monthly_limit_exceeded',
    );
  });

  test('is 404 for a person who is no member, and needs the role of an admin', async () => {
    const organization = await found();
    expect((await limit(organization, newId('usr'), 1)).status).toBe(404);
    const org = { id: organization.userId, membership: newId('mem'), role: 'billing', version: 1 };
    const token = await billing.tokens.consoleSession({ accountType: 'business', claims: { org } });
    expect((await limit({ ...organization, token }, organization.member, 1)).body.detail.required_role).toBe('admin');
    await limit(organization, organization.member, 1);
    const { body } = await billing.internal('GET', `/internal/billing/acts/${organization.userId}?limit=10`);
    expect(body.data).toMatchObject([{ action: 'member.limit_changed', target: { id: organization.member } }]);
  });
});

const depsOf = (database: Knex): LeaseDeps => ({
  database,
  recallLeases: () => Promise.reject(new Error('the gateway process is gone')),
  leaseMeters: createLeaseMeters(createMetrics('billing')),
  logger: createLogger({ service: 'billing', level: 'silent' }),
});

const request = fc.record({
  key: fc.nat(1),
  process: fc.nat(1),
  hold: fc.integer({ min: 1, max: 400 }),
  cost: fc.integer({ min: 0, max: 500 }),
  ahead: fc.constantFrom(0, 0, 50),
});

test('parallel requests over two keys and two processes of billing never pass the limit, and are granted up to it', async () => {
  const processes = [depsOf(billing.db), depsOf(second)];
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 2, maxLength: 24 }),
      fc.integer({ min: 0, max: 2_000 }),
      async (requests, limitMicros) => {
        const { userId, keys, member, token } = await found();
        await limit({ userId, token, keyId: '' }, member, limitMicros);
        const spent = await Promise.all(
          requests.map(async ({ key, process, hold, cost, ahead }) => {
            const deps = processes[process];
            const owner = keys[key];
            if (deps === undefined || owner === undefined) throw new Error('there are two of each');
            const more = { wanted: { micros: ahead, requests: 0, tokens: 0 } };
            const ask = leaseAsk(owner, { hold_micros: hold, known_micros: 0, member_id: member }, more);
            const decision = await decide(deps, ask);
            if (decision.verdict !== 'granted') return { hold, verdict: decision.verdict };
            await settleKeyRequests(
              deps.database,
              [
                {
                  request_id: newId('req'),
                  svc_user_id: userId,
                  key_id: owner.keyId,
                  lease_id: ask.lease_id,
                  hold_micros: hold,
                  started_at: START.toISOString(),
                  outcome: 'settled',
                  cost_micros: cost,
                },
              ],
              'EUR',
            );
            const report = reportOf({ is_ended: true });
            await decide(deps, { ...ask, needs: [], wanted: { micros: 0, requests: 0, tokens: 0 }, report });
            return { hold, verdict: decision.verdict };
          }),
        );
        const { balance_micros, held_micros } = await accounts.wallet(token);
        const paid = 10_000_000 - balance_micros;
        expect(paid).toBeLessThanOrEqual(limitMicros);
        expect(held_micros).toBe(0);
        const verdicts = new Set(spent.map(({ verdict }) => verdict));
        expect([...verdicts].filter((verdict) => verdict !== 'granted')).toEqual(
          verdicts.size > 1 || !verdicts.has('granted') ? ['member_monthly_limit_exceeded'] : [],
        );
        // Nothing is held any more: what is left is granted exactly.
        const { body } = await accounts.ask(keys[0], { hold_micros: limitMicros - paid + 1, member_id: member });
        expect(body).toMatchObject({ verdict: 'member_monthly_limit_exceeded', available_micros: limitMicros - paid });
      },
    ),
    { numRuns: 20 },
  );
});

/** Asks until the wallet is free, as a gateway does. Returns the decision. */
const decide = async (deps: LeaseDeps, ask: ReturnType<typeof leaseAsk>) => {
  for (;;) {
    const [answer] = await grantLeases(deps, HOLDER, [ask]);
    if (answer === undefined) throw new Error('an ask got no answer');
    if (answer.state !== 'busy') return answer.decisions[0] ?? { verdict: 'granted' as const };
  }
};

describe('usage by member', () => {
  const usage = async ({ token }: GatewayAccount, from: string, to: string) =>
    billing.call('GET', `/v1/console/organization/usage?from=${from}&to=${to}`, { token });

  test('sums up requests and money by creator of the key, and use of seats, for all members and those who left', async () => {
    const organization = await found();
    const { userId, member, token } = organization;
    billing.auth.join(userId, userId);
    const { body: checkout } = await billing.call('PUT', '/v1/console/organization/seats', {
      token,
      json: { plan_id: 'full', quantity: 1 },
    });
    await billing.call('POST', `/sandbox/payments/sessions/${checkout.session_id}/complete`);
    const seated = billing.auth.join(userId);
    await billing.call('PUT', `/v1/console/organization/members/${seated.svc_user_id}/seat`, {
      token,
      json: { plan_id: 'full' },
    });
    const { requestId } = await billing.admit(seated.svc_user_id);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 70 });
    await spend(organization, 0, 300_000);
    await spend(organization, 1, 200_000);
    const own = await accounts.ask(organization, { hold_micros: 1_000 });
    await accounts.settle(own.requestId, { outcome: 'settled', cost_micros: 400 });
    const leaver = billing.auth.join(userId);
    const key = { userId, keyId: newId('key') };
    const last = await accounts.ask(key, { hold_micros: 50, member_id: leaver.svc_user_id });
    await accounts.settle(last.requestId, { outcome: 'settled', cost_micros: 50 });
    billing.auth.leave(userId, leaver.svc_user_id);
    const row = (svc_user_id: string, requests: number, cost_micros: number, plan_used_micros = 0) => ({
      svc_user_id,
      name: `Name of ${svc_user_id}`,
      requests,
      cost_micros,
      plan_used_micros,
    });
    expect((await usage(organization, '2026-10-15', '2026-10-15')).body.data).toEqual([
      row(member, 2, 500_000),
      row(userId, 1, 400),
      row(leaver.svc_user_id, 1, 50),
      row(seated.svc_user_id, 0, 0, 70),
    ]);
    const before = (await usage(organization, '2026-10-01', '2026-10-14')).body.data;
    expect(
      before.map(({ requests, plan_used_micros }: Record<string, number>) => [requests, plan_used_micros]),
    ).toEqual(before.map(() => [0, 0]));
    expect(before).toHaveLength(3);
  });

  test('counts no use of a plan of one’s own', async () => {
    const organization = await found();
    const person = await billing.subscribe('full');
    billing.auth.join(organization.userId, person.userId);
    const { requestId } = await billing.admit(person.userId);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 70 });
    const { data } = (await usage(organization, '2026-10-15', '2026-10-15')).body;
    expect(data.map(({ plan_used_micros }: Record<string, number>) => plan_used_micros)).toEqual([0, 0]);
  });

  test.each([
    ['2026-10-02', '2026-10-01'],
    ['2025-10-01', '2026-10-02'],
  ])('returns 422 for the range from %s to %s', async (from, to) => {
    expect((await usage(await found(), from, to)).status).toBe(422);
  });
});

test('a lost lease of a member counts for the limit and the usage once it is charged', async () => {
  const organization = await found();
  const { keys, member, userId } = organization;
  await limit(organization, member, 1_000_000);
  const ask = leaseAsk(keys[0], { hold_micros: 600_000, member_id: member, lease_id: randomUUID() });
  await accounts.sendOne(ask);
  await billing.db.raw("SELECT end_silent_leases(billing_now() + interval '1 hour', 100)");
  await billing.db.raw("SELECT settle_lost_leases(billing_now() + interval '1 hour', 'EUR', 100)");
  expect((await spend(organization, 1, 500_000)).verdict).toBe('member_monthly_limit_exceeded');
  expect(await billing.db('member_usage_days').where({ svc_user_id: userId })).toMatchObject([
    { member_id: member, requests: 0, paid_micros: 600_000 },
  ]);
});
