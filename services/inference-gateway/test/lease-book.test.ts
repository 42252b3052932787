import type { LeaseAnswer, LeaseAsk } from '@svc/contracts';
import { type ApiKeyCaller, createMetrics } from '@svc/service-kit';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LeaseBook, type Spending } from '../src/leases/index.ts';
import { LeaseAuthority } from './support/lease-authority.ts';

const CALLER: ApiKeyCaller = { kind: 'api_key', keyId: 'key', userId: 'usr' };
const DEADLINE_MS = 2_000;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'setImmediate', 'performance'],
  });
});
afterEach(() => vi.useRealTimers());

/** Answer about a locked wallet, on which nothing has changed. */
const BUSY: LeaseAnswer = {
  state: 'busy',
  granted_micros: 0,
  granted_in_minute: { id: 0, requests: 0, tokens: 0 },
  minute_ends_in_ms: 0,
  month_ends_in_ms: 0,
  requests_left: null,
  tokens_left: null,
  decisions: [],
};

type Ask = (asks: readonly LeaseAsk[]) => Promise<readonly LeaseAnswer[]>;
const open = (askLeases: Ask): LeaseBook =>
  new LeaseBook({
    askLeases,
    deadlineMs: DEADLINE_MS,
    monotonicMs: () => performance.now(),
    metrics: createMetrics('inference-gateway', { isOfProcess: false }),
    onRefused: () => undefined,
  });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const need = (micros: number) => ({ requestId: 'req', micros, knownMicros: 0, tokens: 0, tokensLeast: 0 });
/** Spends, and lets time pass until it is decided. */
const spend = async (book: LeaseBook, micros: number, more: object = {}, caller = CALLER) => {
  let outcome: unknown;
  const deciding = book.spend(caller, { ...need(micros), ...more }).catch((error: { code: string }) => error.code);
  void deciding.then((decision) => {
    outcome = decision;
  });
  for (let turn = 0; turn < 3_000 && outcome === undefined; turn += 1) await pass(1);
  return await deciding;
};
const granted = async (...args: Parameters<typeof spend>) => {
  const decision = await spend(...args);
  if (typeof decision === 'string' || decision.verdict !== 'granted') throw new Error(JSON.stringify(decision));
  return decision.spending;
};
/** Costs of ended requests by lease, which their facts tell billing. */
type Costs = Map<string, number>;
const settleAll = (authority: LeaseAuthority, costs: Costs): number => {
  let total = 0;
  for (const [leaseId, cost] of costs) {
    authority.settle(leaseId, cost);
    total += cost;
  }
  costs.clear();
  return total;
};
const end = (spending: Spending, micros: number, costs: Costs): void => {
  spending.end({ micros, tokens: null });
  const { lease_id } = spending.lease;
  costs.set(lease_id, (costs.get(lease_id) ?? 0) + micros);
};
/** Uses a key for some seconds, four times a second. */
const use = async (book: LeaseBook, seconds: number, costs: Costs): Promise<void> => {
  for (let turn = 0; turn < seconds * 4; turn += 1) {
    const spending = await granted(book, 1_000);
    await pass(250);
    end(spending, 100, costs);
  }
};

describe('a key in use', () => {
  test('asks for its first requests, and then waits for billing no more', async () => {
    const authority = new LeaseAuthority(10_000_000);
    let needs = 0;
    const book = open(async (asks) => {
      needs += asks.flatMap((ask) => ask.needs).length;
      return asks.map((ask) => authority.answer(ask));
    });
    await use(book, 2, new Map());
    const first = needs;
    expect(first).toBeLessThanOrEqual(4);
    await use(book, 10, new Map());
    expect(needs).toBe(first);
  });

  test('loses no request while billing is silent for three seconds, is refused within the deadline after that, and leaves nothing held', async () => {
    const authority = new LeaseAuthority(10_000_000);
    const costs: Costs = new Map();
    let isSilent = false;
    const book = open(async (asks) => {
      const answers = asks.map((ask) => authority.answer(ask));
      if (isSilent) await new Promise((_, reject) => setTimeout(() => reject(new Error('silent')), 5_000));
      return answers;
    });
    await use(book, 3, costs);
    isSilent = true;
    await use(book, 3, costs);
    await pass(3_000);
    const askedAtMs = performance.now();
    expect(await spend(book, 1_000)).toBe('service_unavailable');
    expect(performance.now() - askedAtMs).toBeLessThanOrEqual(DEADLINE_MS + 200);
    isSilent = false;
    await pass(6_000);
    end(await granted(book, 1_000), 7, costs);
    await pass(2_000);
    const total = settleAll(authority, costs);
    expect([authority.held, authority.balance]).toEqual([0, 10_000_000 - total]);
  });

  test('always asks billing about a request with an idempotency key', async () => {
    const authority = new LeaseAuthority(10_000_000);
    const keys: unknown[] = [];
    const book = open(async (asks) => {
      keys.push(...asks.flatMap((ask) => ask.needs.map(({ idempotency_key }) => idempotency_key ?? null)));
      return asks.map((ask) => authority.answer(ask));
    });
    await use(book, 3, new Map());
    keys.length = 0;
    await granted(book, 10, { idempotencyKey: 'once' });
    expect(keys).toEqual(['once']);
  });

  test('spends nothing that was granted under other limits', async () => {
    const authority = new LeaseAuthority(10_000_000);
    const asked: LeaseAsk[] = [];
    const book = open(async (asks) => {
      asked.push(...asks);
      return asks.map((ask) => authority.answer(ask));
    });
    await use(book, 3, new Map());
    asked.length = 0;
    await granted(book, 1_000, {}, { ...CALLER, monthlyLimitMicros: 5_000 });
    expect(asked[0]?.limits.monthly_limit_micros).toBe(5_000);
    await pass(1_000);
    expect(asked.some(({ limits, report }) => limits.monthly_limit_micros === null && report.is_ended)).toBe(true);
  });
});

describe('a lease', () => {
  test('keeps what a request was granted while another one of the same answer gives up the spare part', async () => {
    const authority = new LeaseAuthority(1_000);
    const costs: Costs = new Map();
    const book = open(async (asks) => asks.map((ask) => authority.answer(ask)));
    const [refused, spending] = await Promise.all([spend(book, 2_000), granted(book, 400)]);
    expect(refused).toMatchObject({ verdict: 'insufficient_balance' });
    await pass(1_500);
    expect(authority.held).toBe(400);
    end(spending, 400, costs);
    await pass(2_000);
    expect(settleAll(authority, costs)).toBe(400);
    expect([authority.held, authority.balance]).toEqual([0, 600]);
  });

  test('covers every request that its spare part was refused for, when they shared an answer', async () => {
    const authority = new LeaseAuthority(1_000);
    const book = open(async (asks) => asks.map((ask) => authority.answer(ask)));
    const spending = await granted(book, 900);
    spending.end({ micros: 0, tokens: null });
    await Promise.all([granted(book, 950, { idempotencyKey: 'one' }), granted(book, 40, { idempotencyKey: 'two' })]);
  });

  test('does not answer a probe for a key whose minute is used up, though it has money to spare', async () => {
    const authority = new LeaseAuthority(10_000_000);
    authority.requestsPerMinute = 1;
    const book = open(async (asks) => asks.map((ask) => authority.answer(ask)));
    const caller = { ...CALLER, requestsPerMinute: 1 };
    (await granted(book, 1_000, {}, caller)).end({ micros: 0, tokens: null });
    const [refusal] = await Promise.all([book.probe(caller, 'req'), pass(10)]);
    expect(refusal).toMatchObject({ verdict: 'rate_limit_exceeded' });
  });

  test('gives up what becomes spare while it asks, as long as a refused request then fits', async () => {
    const authority = new LeaseAuthority(1_000);
    const running: Spending[] = [];
    let asks = 0;
    const book = open(async (batch) => {
      const answers = batch.map((ask) => authority.answer(ask));
      if (batch.some(({ needs }) => needs.some(({ micros }) => micros === 800))) {
        asks += 1;
        running.shift()?.end({ micros: 0, tokens: null });
      }
      return answers;
    });
    for (const micros of [500, 400]) running.push(await granted(book, micros, { idempotencyKey: String(micros) }));
    await granted(book, 800, { idempotencyKey: '800' });
    expect(asks).toBe(3);
    expect(await spend(book, 800, { idempotencyKey: 'more' })).toMatchObject({ verdict: 'insufficient_balance' });
  });

  test('goes back within a second after its last request, but for what that cost', async () => {
    const authority = new LeaseAuthority(10_000_000);
    const costs: Costs = new Map();
    const book = open(async (asks) => asks.map((ask) => authority.answer(ask)));
    await use(book, 3, costs);
    expect(authority.held).toBeGreaterThan(2_000);
    await pass(1_000);
    settleAll(authority, costs);
    expect(authority.held).toBe(0);
  });

  test('reports the growing cost of a request that runs long', async () => {
    const authority = new LeaseAuthority(10_000_000);
    const reports: number[] = [];
    const book = open(async (asks) => {
      reports.push(...asks.map(({ report }) => report.known_micros));
      return asks.map((ask) => authority.answer(ask));
    });
    const spending = await granted(book, 1_000);
    let cost = 5;
    spending.measureBy(() => cost);
    await pass(4_000);
    cost = 90;
    await pass(4_000);
    expect([reports.includes(5), reports.at(-1)]).toEqual([true, 90]);
  });

  test('is spent again after a recall only if billing grants it again', async () => {
    const authority = new LeaseAuthority(10_000_000);
    let needs = 0;
    const book = open(async (asks) => {
      needs += asks.flatMap((ask) => ask.needs).length;
      return asks.map((ask) => authority.answer(ask));
    });
    await use(book, 3, new Map());
    const { lease } = await granted(book, 1);
    needs = 0;
    const [recalled] = book.recall([lease.lease_id, 'another']);
    expect(recalled?.lease_id).toBe(lease.lease_id);
    await granted(book, 1);
    expect(needs).toBe(1);
  });
});

describe('a lease whose ask got no answer', () => {
  const asked = async (outcome: 'lost' | 'refused') => {
    const authority = new LeaseAuthority(1_000);
    const asks: LeaseAsk[] = [];
    let isAway = true;
    const book = open(async (batch) => {
      asks.push(...batch);
      if (isAway) throw new Error('no answer');
      return batch.map((ask) => authority.answer(ask));
    });
    expect(await spend(book, 100)).toBe('service_unavailable');
    isAway = outcome === 'lost';
    if (outcome === 'refused') expect(await spend(book, 2_000)).toMatchObject({ verdict: 'insufficient_balance' });
    isAway = false;
    await pass(2_000);
    return asks;
  };
  test.each(['lost', 'refused'] as const)(
    'tells billing of its end, so that the ask opens no second lease if it arrives after that (next ask: %s)',
    async (outcome) => {
      const asks = await asked(outcome);
      expect(new Set(asks.map(({ lease_id }) => lease_id)).size).toBe(1);
      expect(asks.at(-1)).toMatchObject({ has_unanswered: true, report: { is_ended: true } });
    },
  );
});

describe('a stop', () => {
  test('ends every lease, however many there are and though wallets are locked, and leaves no request waiting', async () => {
    const authorities = new Map<string, LeaseAuthority>();
    const largest: number[] = [];
    let isLocked = false;
    let isSilent = false;
    const book = open(async (asks) => {
      largest.push(asks.length);
      if (isSilent) await new Promise((resolve) => setTimeout(resolve, 1_000));
      return asks.map((ask, place) => {
        const authority = authorities.get(ask.key_id) ?? new LeaseAuthority(10_000);
        authorities.set(ask.key_id, authority);
        return isLocked && place % 2 === 0 ? BUSY : authority.answer(ask);
      });
    });
    const callers = Array.from({ length: 450 }, (_, index) => ({ ...CALLER, keyId: `key ${index}` }));
    const spendings = await Promise.all(callers.map((caller) => granted(book, 100, {}, caller)));
    for (const spending of spendings) spending.end({ micros: 0, tokens: null });
    isSilent = true;
    const waiting = spend(book, 500, { idempotencyKey: 'once' });
    await pass(1);
    isSilent = false;
    isLocked = true;
    const stopping = book.stop();
    await pass(500);
    expect(await waiting).toBe('service_unavailable');
    await pass(600);
    isLocked = false;
    await pass(200);
    await stopping;
    expect([...authorities.values()].map(({ held }) => held)).toEqual([...authorities].map(() => 0));
    expect([authorities.size, Math.max(...largest)]).toEqual([451, 200]);
    expect(await spend(book, 1)).toBe('service_unavailable');
  });
});

test('never spends more than the wallet or the minute has, refuses nothing that idle leases hold, and leaves nothing held: on any processes, with calls that are lost, late or repeated', async () => {
  const act = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('spend' as const),
        book: fc.nat(2),
        // Requests at once, which share an answer of billing.
        burst: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 4 }),
      }),
    },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('end' as const), nth: fc.nat(20), share: fc.nat(100) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 40, 300, 1_200, 4_000) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('fault' as const),
        fault: fc.constantFrom('none', 'lost', 'late', 'repeated', 'refused'),
      }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60 }), fc.boolean(), async (story, isLimited) => {
      const initial = 2_000;
      const authority = new LeaseAuthority(initial);
      if (isLimited) authority.requestsPerMinute = 12;
      const caller = isLimited ? { ...CALLER, requestsPerMinute: 12 } : CALLER;
      let fault = 'none';
      const ask: Ask = async (asks) => {
        if (fault === 'refused') throw new Error('refused');
        const answers = asks.map((each) => authority.answer(each));
        if (fault === 'repeated') for (const each of asks) authority.answer({ ...each, needs: [] });
        if (fault === 'late') await new Promise((resolve) => setTimeout(resolve, 700));
        if (fault === 'lost') throw new Error('lost');
        return answers;
      };
      const books = [open(ask), open(ask), open(ask)];
      authority.recall = (but) => books.flatMap((book) => book.recall([...known].filter((id) => id !== but)));
      const known = new Set<string>();
      const running: { spending: Spending; hold: number }[] = [];
      const costs: Costs = new Map();
      let started = 0;
      let hasFailed = false;
      for (const each of story) {
        if (each.do === 'wait') await pass(each.ms);
        else if (each.do === 'fault') {
          fault = each.fault;
          hasFailed ||= fault !== 'none';
        } else if (each.do === 'spend') {
          const book = books[each.book];
          if (book === undefined) continue;
          const decisions = await Promise.all(each.burst.map((micros) => spend(book, micros, {}, caller)));
          const refused: { verdict: string; micros: number }[] = [];
          for (const [place, decision] of decisions.entries()) {
            const micros = each.burst[place] ?? 0;
            if (typeof decision === 'string') continue;
            if (decision.verdict === 'granted') {
              known.add(decision.spending.lease.lease_id);
              running.push({ spending: decision.spending, hold: micros });
              started += 1;
            } else refused.push({ verdict: decision.verdict, micros });
          }
          const needed = running.reduce((sum, { hold }) => sum + hold, 0);
          const ended = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
          for (const { verdict, micros } of hasFailed ? [] : refused) {
            if (verdict === 'insufficient_balance') expect(needed + ended + micros).toBeGreaterThan(initial);
            if (verdict === 'rate_limit_exceeded') expect(started).toBe(12);
          }
        } else {
          const [ended] = running.splice(each.nth % Math.max(1, running.length), 1);
          if (ended !== undefined) end(ended.spending, Math.floor((ended.hold * each.share) / 100), costs);
        }
        const spent = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
        const holds = running.reduce((sum, { hold }) => sum + hold, 0);
        expect(spent + holds).toBeLessThanOrEqual(authority.held);
        expect(authority.held).toBeLessThanOrEqual(initial);
        if (isLimited) expect(started).toBeLessThanOrEqual(authority.requestsUsed);
        if (isLimited) expect(authority.requestsUsed).toBeLessThanOrEqual(12);
      }
      fault = 'none';
      for (const { spending, hold } of running) end(spending, hold, costs);
      await pass(3_000);
      const total = settleAll(authority, costs);
      expect([authority.held, authority.balance]).toEqual([0, initial - total]);
      await Promise.all(books.map((book) => book.stop()));
    }),
    { numRuns: 150 },
  );
}, 120_000);
