import { newId, type RequestOutcome } from '@svc/contracts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { type TestBilling, testBilling } from './support/billing.ts';

const START = '2026-10-01T12:00:00Z';
/** A settlement names an account, which its reservation names too. */
const USER = newId('usr');
let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock(START));
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const accountOf = async (userId: string) => billing.db('accounts').where({ svc_user_id: userId }).first();
type Report = RequestOutcome | 'sweep_uncertain' | 'sweep_estimate';
const settled = (cost_micros: number): RequestOutcome => ({ outcome: 'settled', cost_micros });
const released: RequestOutcome = { outcome: 'released' };
const uncertain: RequestOutcome = { outcome: 'uncertain' };

const report = async (requestId: string, outcome: Report) => {
  if (typeof outcome === 'object') {
    await billing.settle(requestId, outcome);
    return;
  }
  const column = outcome === 'sweep_uncertain' ? 'created_at' : 'uncertain_at';
  const row = await billing.db('reservations').where({ request_id: requestId }).first(column);
  const hours = outcome === 'sweep_uncertain' ? 0.1 : 24.01;
  if (row[column] !== null) await billing.setClock(new Date(row[column].getTime() + hours * 3_600_000));
  await billing.app.sweep();
};

const ENDINGS: [string, Report[], { state: string; used: number; pending: number }][] = [
  ['settled', [settled(7)], { state: 'settled', used: 7, pending: 0 }],
  ['settled twice', [settled(7), settled(7)], { state: 'settled', used: 7, pending: 0 }],
  ['settled at two costs', [settled(7), settled(9)], { state: 'settled', used: 7, pending: 0 }],
  ['settled, then released', [settled(7), released], { state: 'settled', used: 7, pending: 0 }],
  ['settled, then uncertain', [settled(7), uncertain], { state: 'settled', used: 7, pending: 0 }],
  ['settled at zero', [settled(0)], { state: 'settled', used: 0, pending: 0 }],
  ['released', [released], { state: 'released', used: 0, pending: 0 }],
  ['released twice', [released, released], { state: 'released', used: 0, pending: 0 }],
  ['released, then settled', [released, settled(7)], { state: 'released', used: 0, pending: 0 }],
  ['released, then uncertain', [released, uncertain], { state: 'released', used: 0, pending: 0 }],
  ['uncertain', [uncertain], { state: 'uncertain', used: 100, pending: 0 }],
  ['uncertain twice', [uncertain, uncertain], { state: 'uncertain', used: 100, pending: 0 }],
  ['uncertain, then settled', [uncertain, settled(7)], { state: 'settled', used: 7, pending: 0 }],
  ['uncertain, then released', [uncertain, released], { state: 'settled', used: 0, pending: 0 }],
  ['never reported', ['sweep_uncertain'], { state: 'uncertain', used: 100, pending: 0 }],
  ['never reported, then settled late', ['sweep_uncertain', settled(230)], { state: 'settled', used: 230, pending: 0 }],
  [
    'never reported, then settled at its estimate',
    ['sweep_uncertain', 'sweep_estimate'],
    { state: 'settled', used: 100, pending: 0 },
  ],
  [
    'settled at its estimate, then corrected once',
    ['sweep_uncertain', 'sweep_estimate', settled(30), settled(30), settled(40), released],
    {
      state: 'settled',
      used: 30,
      pending: 0,
    },
  ],
  [
    'settled at its estimate, then released',
    ['sweep_uncertain', 'sweep_estimate', released],
    {
      state: 'settled',
      used: 0,
      pending: 0,
    },
  ],
  [
    'settled before any sweep',
    [settled(7), 'sweep_uncertain', 'sweep_estimate'],
    { state: 'settled', used: 7, pending: 0 },
  ],
];

const endOf = async (userId: string, requestId: string) => {
  const row = await billing.db('reservations').where({ request_id: requestId }).first();
  const account = await accountOf(userId);
  return {
    state: row.state,
    used: account.week_used_micros,
    pending: account.pending,
  };
};

describe('a reservation with an estimate of 100 ends once', () => {
  test.each(ENDINGS)('%s', async (_name, reports, expected) => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId, { estimate_micros: 100 });
    for (const outcome of reports) await report(requestId, outcome);
    expect(await endOf(userId, requestId)).toEqual(expected);
  });
  test.each(ENDINGS.filter(([, reports]) => reports.every((outcome) => typeof outcome === 'object')))(
    '%s, all in one call',
    async (_name, reports, expected) => {
      const { userId } = await billing.subscribe();
      const { requestId } = await billing.admit(userId, { estimate_micros: 100 });
      await billing.internal('POST', '/internal/settlements', {
        settlements: reports.map((result) => ({ request_id: requestId, svc_user_id: USER, result })),
      });
      expect(await endOf(userId, requestId)).toEqual(expected);
    },
  );
});

describe('the settlements endpoint', () => {
  test('returns null for a request that was never admitted, and stores nothing', async () => {
    const requestId = newId('req');
    expect(await billing.settle(requestId, settled(5))).toBeNull();
    expect(await billing.db('reservations').where({ request_id: requestId })).toEqual([]);
  });
  test('accepts a batch with repetitions, and returns the states in input order', async () => {
    const { userId } = await billing.subscribe('full');
    const one = await billing.admit(userId);
    const two = await billing.admit(userId);
    const unknown = newId('req');
    const answer = await billing.internal('POST', '/internal/settlements', {
      settlements: [
        { request_id: one.requestId, svc_user_id: USER, result: uncertain },
        { request_id: unknown, svc_user_id: USER, result: settled(1) },
        { request_id: two.requestId, svc_user_id: USER, result: released },
        { request_id: one.requestId, svc_user_id: USER, result: settled(40) },
      ],
    });
    expect(answer.body.results).toEqual([
      { request_id: one.requestId, state: 'uncertain' },
      { request_id: unknown, state: null },
      { request_id: two.requestId, state: 'released' },
      { request_id: one.requestId, state: 'settled' },
    ]);
    expect(await accountOf(userId)).toMatchObject({ pending: 0, week_used_micros: 40 });
  });
  test('refuses an empty batch, a negative cost and an unknown outcome', async () => {
    for (const settlements of [
      [],
      [{ request_id: newId('req'), svc_user_id: USER, result: settled(-1) }],
      [{ request_id: newId('req'), svc_user_id: USER, result: { outcome: 'estimate' } }],
    ]) {
      expect((await billing.internal('POST', '/internal/settlements', { settlements })).status).toBe(422);
    }
  });
  test('counts each outcome once when 20 callers report overlapping batches in different orders concurrently', async () => {
    const accounts = await Promise.all(Array.from({ length: 6 }, () => billing.subscribe('full')));
    const requests = await Promise.all(
      accounts.flatMap(({ userId }) => [billing.admit(userId), billing.admit(userId)]),
    );
    const settlements = requests.map(({ requestId }, index) => ({
      request_id: requestId,
      svc_user_id: USER,
      result: settled(index + 1),
    }));
    const rotated = (by: number) => [...settlements.slice(by), ...settlements.slice(0, by)];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        billing.internal('POST', '/internal/settlements', {
          settlements: index % 2 === 0 ? rotated(index % 12) : rotated(index % 12).reverse(),
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const used = await Promise.all(accounts.map(async ({ userId }) => (await accountOf(userId)).week_used_micros));
    expect(used.reduce((a, b) => a + b, 0)).toBe((12 * 13) / 2);
  });
});

describe('a release that overtakes its admission', () => {
  const rowsOf = (requestId: string) => billing.db('reservations').where({ request_id: requestId });
  test('takes no place and charges nothing', async () => {
    const { userId } = await billing.subscribe();
    const request_id = newId('req');
    expect(await billing.settle(request_id, released)).toBeNull();
    expect((await billing.admit(userId, { request_id })).answer.status).toBe(422);
    expect(await accountOf(userId)).toMatchObject({ pending: 0, week_used_micros: 0 });
    await billing.setClock('2026-10-03T12:00:00Z');
    await billing.app.sweep();
    expect(await accountOf(userId)).toMatchObject({ pending: 0, week_used_micros: 0 });
    expect(await rowsOf(request_id)).toMatchObject([{ kind: 'given_up', state: 'released' }]);
    expect(await billing.settle(request_id, released)).toBe('released');
  });
  test('leaves no place taken when both race', async () => {
    const { userId } = await billing.subscribe('full');
    for (let round = 0; round < 25; round += 1) {
      const request_id = newId('req');
      const [admission] = await Promise.all([
        billing.admit(userId, { request_id }),
        billing.settle(request_id, released),
      ]);
      expect([200, 422]).toContain(admission.answer.status);
      expect(await rowsOf(request_id)).toMatchObject([{ state: 'released' }]);
    }
    expect(await accountOf(userId)).toMatchObject({ pending: 0, week_used_micros: 0 });
  });
});

describe('the ledger', () => {
  const post = (amounts: Readonly<Record<string, number>>) =>
    billing.db('ledger_postings').insert({
      ...amounts,
      kind: 'settlement',
      reference: newId('req'),
      svc_user_id: 'usr',
      currency: 'EUR',
      posted_at: new Date(),
    });
  test('refuses a posting that does not sum to zero, and one that changes no book', async () => {
    await expect(post({ income_micros: 5 })).rejects.toThrow(/ledger_postings_balanced/);
    await expect(post({ income_micros: 5, wallet_available_micros: -4 })).rejects.toThrow(/ledger_postings_balanced/);
    await expect(post({})).rejects.toThrow(/ledger_postings_change_books/);
    await expect(post({ income_micros: 0 })).rejects.toThrow(/ledger_postings_change_books/);
  });
  test.each(['UPDATE ledger_postings SET kind = kind', 'DELETE FROM ledger_postings', 'TRUNCATE ledger_postings'])(
    'is append-only: refuses %s',
    async (statement) => {
      await expect(billing.db.raw(statement)).rejects.toThrow(/append-only/);
    },
  );
});
