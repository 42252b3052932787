import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { LeaseAnswer, LeaseAsk, LeaseReport } from '@svc/contracts';
import { newId } from '@svc/contracts';
import { createLogger } from '@svc/service-kit';
import { internalCredential } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { createLeaseRecalls, settleKeyRequests } from '../src/leases/index.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import {
  type GatewayAccount,
  gatewayAccounts,
  HOLDER,
  type KeyRequestFields,
  leaseAsk,
  reportOf,
} from './support/gateway-accounts.ts';

const START_MS = Date.parse('2026-10-15T12:00:00Z');
let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
let nowMs: number;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
});
afterAll(() => billing.stop());
beforeEach(async () => {
  nowMs = START_MS;
  await billing.setClock(new Date(nowMs));
  await watch(11);
});
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

/** Advances the clocks of the database and the process while billing sweeps. */
const watch = async (seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second += 1) {
    nowMs += 1_000;
    billing.monotonic.ms += 1_000;
    await billing.setClock(new Date(nowMs));
    await billing.app.sweepHolders();
  }
};
const wanting = (micros: number, requests = 0, tokens = 0) => ({ wanted: { micros, requests, tokens } });
const reported = (ask: LeaseAsk, report: Partial<LeaseReport>): LeaseAsk => ({
  ...ask,
  ...wanting(0),
  needs: [],
  report: reportOf(report),
});
const held = async ({ token }: GatewayAccount): Promise<number> => (await accounts.wallet(token)).held_micros;
const available = async ({ token }: GatewayAccount): Promise<number> => {
  const { balance_micros, held_micros } = await accounts.wallet(token);
  return balance_micros - held_micros;
};
/** Starts a lease with a request and an amount ahead of need. */
const open = async (owner: GatewayAccount, fields: KeyRequestFields, ahead: ReturnType<typeof wanting>) => {
  const ask = leaseAsk(owner, fields, ahead);
  const answer = await accounts.sendOne(ask);
  return { ask, answer };
};
/** Returns the outcome of a request on a lease. */
const outcomeOn = (ask: LeaseAsk, cost_micros: number, hold_micros: number, request_id = newId('req')) => ({
  request_id,
  svc_user_id: ask.svc_user_id,
  key_id: ask.key_id,
  lease_id: ask.lease_id,
  hold_micros,
  started_at: new Date(nowMs).toISOString(),
  outcome: 'settled' as const,
  cost_micros,
});

describe('a lease ahead of need', () => {
  test('is held like a request, pays for what its holder spends, and gives back the rest', async () => {
    const owner = await accounts.fund();
    const { ask, answer } = await open(owner, { hold_micros: 1_000 }, wanting(100_000));
    expect(answer).toMatchObject({ state: 'held', granted_micros: 101_000 });
    expect(await held(owner)).toBe(101_000);
    const outcomes = [300, 200, 0].map((cost) => outcomeOn(ask, cost, 1_000));
    await settleKeyRequests(billing.db, outcomes, 'EUR');
    expect([await held(owner), await available(owner)]).toEqual([100_500, 10_000_000 - 101_000]);
    await accounts.sendOne(reported(ask, { returned_micros: 100_500, known_micros: 500, is_ended: true }));
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 500]);
    expect(await billing.db('leases').where({ lease_id: ask.lease_id })).toEqual([]);
  });

  test.each([
    ['the balance', { hold_micros: 1_000 }, wanting(4_000_000), 1_249_875],
    ['the monthly limit', { hold_micros: 1_000, monthly_limit_micros: 801_000 }, wanting(200_000), 100_000],
    ['the minute', { hold_micros: 1_000, requests_per_minute: 41 }, wanting(100_000, 10), 50_000],
    ['the tokens of the minute', { hold_micros: 1_000, tokens_per_minute: 800 }, wanting(100_000, 0, 200), 50_000],
    ['a small balance', { hold_micros: 9_000_000 }, wanting(1_000_000), 0],
    ['the last requests of a minute', { hold_micros: 1_000, requests_per_minute: 5 }, wanting(100_000, 10), 0],
  ])(
    'takes at most an eighth of what is left of %s, and nothing near the limit',
    async (_limit, fields, ahead, granted) => {
      const owner = await accounts.fund();
      const { answer } = await open(owner, fields, ahead);
      expect(answer.granted_micros - fields.hold_micros).toBe(granted);
    },
  );

  test('counts its requests in the minute in which they were granted, and gives back the unused ones', async () => {
    const owner = await accounts.fund();
    const limit = { hold_micros: 10, requests_per_minute: 100 };
    const { ask, answer } = await open(owner, limit, wanting(100, 10));
    expect([answer.granted_in_minute.requests, answer.requests_left]).toEqual([11, 89]);
    const back = { ...answer.granted_in_minute, requests: 4 };
    expect((await accounts.sendOne(reported(ask, { returned_in_minute: back }))).requests_left).toBe(93);
    expect((await accounts.sendOne(reported(ask, { returned_in_minute: back }))).requests_left).toBe(93);
    nowMs += 60_000;
    await billing.setClock(new Date(nowMs));
    const later = await accounts.sendOne({ ...ask, ...wanting(100, 10) });
    expect(later).toMatchObject({ granted_in_minute: { requests: 11 }, requests_left: 89 });
    expect((await accounts.sendOne(reported(ask, { returned_in_minute: back }))).requests_left).toBe(89);
  });

  test('grants no more once its month is over, and pays for the requests that still run', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 500 }, wanting(10_000));
    await billing.setClock('2026-11-01T00:00:00Z');
    const answer = await accounts.sendOne({ ...ask, ...wanting(10_000) });
    expect(answer).toMatchObject({ state: 'over', granted_micros: 10_500, decisions: [] });
    await settleKeyRequests(billing.db, [outcomeOn(ask, 400, 500)], 'EUR');
    await accounts.sendOne(reported(ask, { returned_micros: 10_100, known_micros: 400, is_ended: true }));
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 400]);
    const { spent_this_month_micros } = (
      await billing.internal('POST', `/internal/accounts/${owner.userId}/key-spending`, { key_ids: [owner.keyId] })
    ).body;
    expect(spent_this_month_micros).toEqual([0]);
  });
});

describe('reports of a lease', () => {
  test('may be repeated, reordered and lost without any effect on its sums', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 0 }, wanting(100_000));
    const reports = [10_000, 40_000, 25_000, 40_000, 0].map((returned_micros) => reported(ask, { returned_micros }));
    for (const report of reports) await accounts.sendOne(report);
    expect(await held(owner)).toBe(60_000);
    await Promise.all(reports.map((report) => accounts.sendOne(report)));
    expect(await held(owner)).toBe(60_000);
  });

  test('never give back more than the lease holds', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 1_000 }, wanting(9_000));
    await settleKeyRequests(billing.db, [outcomeOn(ask, 1_000, 1_000)], 'EUR');
    await accounts.sendOne(reported(ask, { returned_micros: 1_000_000_000 }));
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 1_000]);
  });

  test('tell of a grant whose answer was lost: the next answer includes it', async () => {
    const owner = await accounts.fund();
    const ask = leaseAsk(owner, { hold_micros: 700 });
    await accounts.sendOne(ask);
    const next = leaseAsk(owner, { hold_micros: 300, lease_id: ask.lease_id });
    expect((await accounts.sendOne(next)).granted_micros).toBe(1_000);
    await accounts.sendOne(reported(ask, { returned_micros: 700 }));
    expect(await held(owner)).toBe(300);
  });

  test('of its end give back a grant that its holder never heard of', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 700 }, wanting(50_000));
    await accounts.sendOne(reported(ask, { known_micros: 300, is_ended: true }));
    expect(await held(owner)).toBe(300);
    await settleKeyRequests(billing.db, [outcomeOn(ask, 300, 700)], 'EUR');
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 300]);
  });

  test('of another account or key reach no lease', async () => {
    const owner = await accounts.fund();
    const stranger = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 1_000 }, wanting(0));
    for (const other of [
      { ...ask, svc_user_id: stranger.userId },
      { ...ask, key_id: newId('key') },
    ]) {
      await accounts.sendOne(reported(other, { returned_micros: 1_000, is_ended: true }));
    }
    expect(await held(owner)).toBe(1_000);
  });
});

describe('an ask that arrives late', () => {
  const unanswered = { has_unanswered: true };

  test('opens no second lease once its holder has ended the lease, whether or not that was ever granted anything', async () => {
    const owner = await accounts.fund();
    const late = leaseAsk(owner, { hold_micros: 1_000, known_micros: 30 }, wanting(100_000));
    await accounts.sendOne({ ...reported(late, { is_ended: true }), ...unanswered });
    const { ask: used } = await open(owner, { hold_micros: 700 }, wanting(0));
    await accounts.sendOne({ ...reported(used, { known_micros: 300, is_ended: true }), ...unanswered });
    await settleKeyRequests(billing.db, [outcomeOn(used, 300, 700)], 'EUR');
    for (const ask of [late, used])
      expect(await accounts.sendOne(ask)).toMatchObject({ state: 'ended', decisions: [] });
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 300]);
    await billing.setClock(new Date(nowMs + 25 * 3_600_000));
    await billing.app.sweep();
    expect(await billing.db('leases').where({ svc_user_id: owner.userId })).toEqual([]);
  });

  test('is the same ask: its request is no duplicate of itself, and is held once', async () => {
    const owner = await accounts.fund();
    const ask = leaseAsk(owner, { hold_micros: 1_000, idempotency_key: 'once' });
    for (let sent = 0; sent < 2; sent += 1) {
      expect((await accounts.sendOne(ask)).decisions).toMatchObject([{ verdict: 'granted' }]);
    }
    const other = await accounts.ask(owner, { hold_micros: 1_000, idempotency_key: 'once' });
    expect(other.body).toMatchObject({
      verdict: 'duplicate_request',
      duplicate_of: { request_id: ask.needs[0]?.request_id, state: 'reserved' },
    });
    // Its holder learns of both grants from the sum, and gives back what no request holds.
    await accounts.sendOne(reported(ask, { returned_micros: 1_000, known_micros: 1_000 }));
    expect(await held(owner)).toBe(1_000);
  });
});

describe('a locked wallet', () => {
  test('is busy at once and changes nothing, while others of the same call are answered', async () => {
    const locked = await accounts.fund();
    const free = await accounts.fund();
    const answers = await billing.db.transaction(async (trx): Promise<LeaseAnswer[]> => {
      await trx('wallets').where({ svc_user_id: locked.userId }).forNoKeyUpdate().first();
      return await accounts.send([leaseAsk(locked), leaseAsk(free), leaseAsk(locked)]);
    });
    expect(answers.map(({ state }) => state)).toEqual(['busy', 'held', 'busy']);
    expect([await held(locked), await held(free)]).toEqual([0, 1_000_000]);
  });
});

describe('a recall', () => {
  const otherHolder = randomUUID();
  const renew = (holderId: string) =>
    billing.internal('PUT', `/internal/holders/${holderId}`, { internal_url: `http://holder/${holderId}` });
  beforeEach(async () => {
    await renew(HOLDER);
    await renew(otherHolder);
  });

  const cases: [
    string,
    { limits: KeyRequestFields; others: number; needed: number; verdict: string; isOfWallet: boolean },
  ][] = [
    ['a wallet', { limits: {}, others: 0, needed: 10_000_000, verdict: 'insufficient_balance', isOfWallet: true }],
    [
      'the month of a key',
      {
        limits: { monthly_limit_micros: 1_000_000 },
        others: 0,
        needed: 1_000_000,
        verdict: 'key_monthly_limit_exceeded',
        isOfWallet: false,
      },
    ],
    [
      'the minute of a key',
      { limits: { requests_per_minute: 16 }, others: 14, needed: 0, verdict: 'rate_limit_exceeded', isOfWallet: false },
    ],
  ];
  test.each(cases)(
    'gets what other processes hold unspent of %s before a request is refused',
    async (_limit, given) => {
      const { limits, others, needed, verdict, isOfWallet } = given;
      const owner = await accounts.fund();
      const other = isOfWallet ? { ...owner, keyId: newId('key') } : owner;
      const { ask, answer } = await open(other, { ...limits, hold_micros: 0 }, wanting(100_000, 1));
      for (let count = 0; count < others; count += 1) await accounts.ask(owner, { ...limits, hold_micros: 0 });
      const asking = async () => (await accounts.ask(owner, { ...limits, hold_micros: needed })).body.verdict;
      billing.recallLeases = () => Promise.reject(new Error('no answer'));
      expect(await asking()).toBe(verdict);
      const recalled: string[] = [];
      billing.recallLeases = async ({ internalUrl, leaseIds }) => {
        recalled.push(internalUrl);
        const { granted_micros: returned_micros, granted_in_minute: returned_in_minute } = answer;
        const report = reportOf({ returned_micros, returned_in_minute });
        return leaseIds.flatMap((lease_id) => (lease_id === ask.lease_id ? [{ lease_id, report }] : []));
      };
      expect(await asking()).toBe('granted');
      expect(recalled).toEqual([`http://holder/${HOLDER}`]);
    },
  );

  test('refuses nothing before its answer is applied, though the wallet is locked at that moment', async () => {
    const owner = await accounts.fund();
    const { ask, answer } = await open({ ...owner, keyId: newId('key') }, { hold_micros: 0 }, wanting(100_000));
    const lock = await billing.db.transaction();
    billing.recallLeases = async () => {
      if (!lock.isCompleted()) await lock('wallets').where({ svc_user_id: owner.userId }).forNoKeyUpdate().first();
      return [{ lease_id: ask.lease_id, report: reportOf({ returned_micros: answer.granted_micros }) }];
    };
    const all = leaseAsk(owner, { hold_micros: 10_000_000 });
    const [locked] = await accounts.send([all]);
    expect(locked).toMatchObject({ state: 'busy', decisions: [] });
    await lock.rollback();
    expect((await accounts.sendOne(all)).decisions).toMatchObject([{ verdict: 'granted' }]);
  });

  test('waits for a silent process once a second, and for its answer again as soon as it gives one', async () => {
    const clock = { ms: 0 };
    let calls = 0;
    let isSilent = true;
    const gateway = createServer((_, response) => {
      calls += 1;
      // Refuses at once in place of silence, so that no time has to pass.
      response.statusCode = isSilent ? 503 : 200;
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ leases: [] }));
    }).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    const address = gateway.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    const recalls = createLeaseRecalls({
      token: internalCredential('billing'),
      logger: createLogger({ service: 'billing', level: 'silent' }),
      timeoutMs: 20_000,
      monotonicMs: () => clock.ms,
    });
    const internalUrl = `http://127.0.0.1:${address.port}`;
    const recall = () => recalls.recall({ internalUrl, leaseIds: [randomUUID()] });
    await expect(recall()).rejects.toMatchObject({ code: 'service_unavailable' });
    clock.ms = 999;
    expect([await recall(), await recall(), calls]).toEqual([[], [], 1]);
    clock.ms = 1_000;
    const again = recall();
    expect(await recall()).toEqual([]);
    await expect(again).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(calls).toBe(2);
    isSilent = false;
    clock.ms = 2_000;
    for (const round of [3, 4]) expect([await recall(), calls]).toEqual([[], round]);
    await recalls.close();
    gateway.closeAllConnections();
    gateway.close();
  });

  test('gets what a key in use has given back, although that key asks for more meanwhile', async () => {
    const owner = await accounts.fund();
    const busy = { ...owner, keyId: newId('key') };
    const { ask, answer } = await open(busy, { hold_micros: 0 }, wanting(100_000));
    billing.recallLeases = async () => {
      const report = reportOf({ returned_micros: answer.granted_micros });
      const next = { ...ask, ...wanting(100_000), needs: [], report };
      expect(await accounts.sendOne(next)).toMatchObject({ granted_micros: answer.granted_micros });
      return [{ lease_id: ask.lease_id, report }];
    };
    expect((await accounts.ask(owner, { hold_micros: 10_000_000 })).body.verdict).toBe('granted');
  });

  test('finds nothing granted ahead by its own call', async () => {
    const owner = await accounts.fund();
    const busy = { ...owner, keyId: newId('key') };
    const { ask } = await open(busy, { hold_micros: 0 }, wanting(100_000));
    const answers = await accounts.send([
      { ...ask, ...wanting(200_000), needs: [] },
      leaseAsk(owner, { hold_micros: 9_900_000 }),
    ]);
    expect(answers[1]?.decisions).toMatchObject([{ verdict: 'granted' }]);
  });

  test('comes before a request gets less than it asks for', async () => {
    const owner = await accounts.fund();
    const { ask, answer } = await open({ ...owner, keyId: newId('key') }, { hold_micros: 0 }, wanting(100_000, 1));
    const report = reportOf({ returned_micros: answer.granted_micros });
    billing.recallLeases = async () => [{ lease_id: ask.lease_id, report }];
    const fields = { hold_micros: 20_000_000, micros_least: 1 };
    expect((await accounts.ask(owner, fields)).body).toEqual({ verdict: 'granted', micros: 10_000_000 });
  });

  test('is repeated if another request took what was given up, while more has become free', async () => {
    const owner = await accounts.fund();
    const [taken, late] = await Promise.all(
      [1, 2].map(() => open({ ...owner, keyId: newId('key') }, { hold_micros: 0 }, wanting(100_000))),
    );
    if (taken === undefined || late === undefined) throw new Error('the leases were not opened');
    const all = ({ answer }: typeof taken) => reportOf({ returned_micros: answer.granted_micros });
    let recalls = 0;
    billing.recallLeases = async () => {
      recalls += 1;
      if (recalls === 1) {
        await accounts.sendOne(reported(taken.ask, all(taken)));
        const another = { ...owner, keyId: newId('key') };
        expect((await accounts.ask(another, { hold_micros: 100_000 })).body.verdict).toBe('granted');
      }
      const lateReport = recalls === 1 ? reportOf({}) : all(late);
      return [
        { lease_id: taken.ask.lease_id, report: all(taken) },
        { lease_id: late.ask.lease_id, report: lateReport },
      ];
    };
    expect((await accounts.ask(owner, { hold_micros: 9_900_000 })).body.verdict).toBe('granted');
    expect(recalls).toBe(2);
    // Nothing more is given up, so a further recall is the last one.
    expect((await accounts.ask(owner, { hold_micros: 100_000 })).body.verdict).toBe('insufficient_balance');
    expect(recalls).toBe(4);
  });

  test('is not made if no lease holds anything', async () => {
    const owner = await accounts.fund();
    let recalls = 0;
    billing.recallLeases = async () => {
      recalls += 1;
      return [];
    };
    expect((await accounts.ask(owner, { hold_micros: 10_000_001 })).body.verdict).toBe('insufficient_balance');
    expect(recalls).toBe(0);
  });
});

describe('a holder that falls silent', () => {
  test('leaves what its requests cost so far as it has reported, until their outcomes arrive', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 1_000, known_micros: 30 }, wanting(100_000));
    await watch(9);
    expect(await held(owner)).toBe(101_000);
    await watch(3);
    expect(await held(owner)).toBe(30);
    expect((await accounts.sendOne(ask)).state).toBe('ended');
    await settleKeyRequests(billing.db, [outcomeOn(ask, 640, 1_000)], 'EUR');
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 640]);
  });

  test('keeps the cost of requests that have ended and whose outcomes are on their way', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 1_000, known_micros: 10 }, wanting(100_000));
    await settleKeyRequests(billing.db, [outcomeOn(ask, 200, 1_000)], 'EUR');
    await accounts.sendOne(reported(ask, { known_micros: 900 }));
    await watch(12);
    expect(await held(owner)).toBe(700);
  });

  test('is charged at its last report if outcomes stay away, and corrected by one that arrives after that', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 5_000, known_micros: 900 }, wanting(0));
    await watch(12);
    await billing.setClock(new Date(nowMs + 25 * 3_600_000));
    await billing.app.sweep();
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 900]);
    expect(await checkBalances(billing.db)).toEqual([]);
    const late = [outcomeOn(ask, 700, 2_000), outcomeOn(ask, 350, 2_000)];
    await settleKeyRequests(billing.db, [...late, ...late], 'EUR');
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 1_050]);
    await billing.app.sweep();
    const latest = await settleKeyRequests(billing.db, [outcomeOn(ask, 40, 2_000)], 'EUR');
    expect(latest).toMatchObject([{ effect: 'settled', writtenOffMicros: 0 }]);
    expect(await available(owner)).toBe(10_000_000 - 1_090);
    await billing
      .db('leases')
      .where({ lease_id: ask.lease_id })
      .update({ ended_at: new Date(nowMs - 31 * 86_400_000) });
    await billing.app.sweep();
    expect(await billing.db('leases').where({ lease_id: ask.lease_id })).toEqual([]);
  });

  test('and was charged, pays once for a request that turns out uncertain after that', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 5_000, known_micros: 900 }, wanting(0));
    await watch(12);
    await billing.setClock(new Date(nowMs + 25 * 3_600_000));
    await billing.app.sweep();
    const late = outcomeOn(ask, 500, 2_000);
    const uncertain = { ...late, outcome: 'uncertain' as const };
    await settleKeyRequests(billing.db, [uncertain, uncertain], 'EUR');
    expect([await held(owner), await available(owner)]).toEqual([500, 10_000_000 - 900]);
    await settleKeyRequests(billing.db, [{ ...late, cost_micros: 450 }, uncertain], 'EUR');
    expect([await held(owner), await available(owner)]).toEqual([0, 10_000_000 - 850]);
  });

  test('loses its leases though the wallet of another one is locked, which it loses once that is free', async () => {
    const locked = await accounts.fund();
    const free = await accounts.fund();
    for (const owner of [locked, free]) await open(owner, { hold_micros: 1_000, known_micros: 0 }, wanting(0));
    await billing.db.transaction(async (trx) => {
      await trx('wallets').where({ svc_user_id: locked.userId }).forNoKeyUpdate().first();
      await watch(12);
      expect([await held(locked), await held(free)]).toEqual([1_000, 0]);
    });
    await watch(1);
    expect(await held(locked)).toBe(0);
  });

  test('keeps its lease as long as it reports', async () => {
    const owner = await accounts.fund();
    const { ask } = await open(owner, { hold_micros: 1_000 }, wanting(0));
    for (let round = 0; round < 5; round += 1) {
      await watch(8);
      await accounts.sendOne(reported(ask, { known_micros: 5 }));
    }
    expect(await held(owner)).toBe(1_000);
    await accounts.sendOne(reported(ask, { returned_micros: 1_000, is_ended: true }));
    expect(await held(owner)).toBe(0);
  });
});

test('charges no account for an outcome that names the lease or the request of another', async () => {
  const owner = await accounts.fund();
  const stranger = await accounts.fund();
  const { ask } = await open(owner, { hold_micros: 1_000 }, wanting(0));
  const uncertain = { ...outcomeOn(ask, 100, 1_000), outcome: 'uncertain' as const };
  const ended = outcomeOn(ask, 50, 100);
  await settleKeyRequests(billing.db, [uncertain, ended], 'EUR');
  const before = [await held(owner), await available(owner)];
  const results = await settleKeyRequests(
    billing.db,
    [outcomeOn(ask, 7, 1_000), { ...uncertain, outcome: 'settled' as const }, ended].map((outcome) => ({
      ...outcome,
      svc_user_id: stranger.userId,
    })),
    'EUR',
  );
  expect(results.map(({ effect, state }) => [effect, state])).toEqual([
    ['unknown', null],
    ['conflict', null],
    ['conflict', null],
  ]);
  const otherKey = await settleKeyRequests(billing.db, [{ ...outcomeOn(ask, 7, 1_000), key_id: newId('key') }], 'EUR');
  expect(otherKey).toMatchObject([{ effect: 'unknown' }]);
  expect([await held(owner), await available(owner)]).toEqual(before);
  expect([await held(stranger), await available(stranger)]).toEqual([0, 10_000_000]);
});

test('charges no cost without a lease, and records a request that cost nothing', async () => {
  const owner = await accounts.fund();
  const ask = leaseAsk(owner);
  const results = await settleKeyRequests(
    billing.db,
    [outcomeOn(ask, 5, 10), outcomeOn(ask, 0, 10), { ...outcomeOn(ask, 0, 10), outcome: 'released' }],
    'EUR',
  );
  expect(results.map(({ effect, state }) => [effect, state])).toEqual([
    ['unknown', null],
    ['settled', 'settled'],
    ['released', 'released'],
  ]);
  expect(await available(owner)).toBe(10_000_000);
});
