import type { Admission } from '@svc/contracts';
import { AppError, createLogger, createMetrics } from '@svc/service-kit';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { createAdmission } from '../src/reservations/admit-request.ts';
import { createReservationMeters } from '../src/reservations/index.ts';
import { readStanding } from '../src/reservations/read-standing.ts';
import { applyOutcomes } from '../src/reservations/settle-requests.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import { ReferenceModel } from './support/reference-model.ts';

/** Requests and accounts per run. Few, so that steps repeat and collide. */
const REQUESTS = 8;
const ACCOUNTS = 2;

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('admit' as const), request: fc.nat(REQUESTS - 1), estimate: fc.nat(400) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('settle' as const), request: fc.nat(REQUESTS - 1), cost: fc.nat(600) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), request: fc.nat(REQUESTS - 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('uncertain' as const), request: fc.nat(REQUESTS - 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(0.05, 1, 25, 100, 168, 500, 696) }),
  },
);

/** Returns the verdict; `request_id_taken` for a 422. */
const verdictOf = async (admission: Promise<Admission | null>): Promise<string> => {
  try {
    return (await admission)?.verdict ?? 'busy';
  } catch (error) {
    if (error instanceof AppError && error.issues?.[0]?.loc.includes('request_id')) return 'request_id_taken';
    throw error;
  }
};

test('matches the reference model, with every balance proven, after any sequence of admissions, outcomes and delays', async () => {
  const deps = {
    database: billing.db,
    currency: 'EUR',
    pastDueGraceDays: 7,
    logger: createLogger({ service: 'billing', level: 'silent' }),
    meters: createReservationMeters(createMetrics('billing')),
    recallWallet: async () => false,
  };
  const admitRequest = createAdmission(deps);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (story) => {
      let now = new Date('2028-01-31T09:00:00Z');
      await billing.setClock(now);
      const users = await Promise.all(Array.from({ length: ACCOUNTS }, () => billing.subscribe('basic')));
      const model = new ReferenceModel(now, { weekly: 1000, monthly: 3000 });
      const ids = model.newRequestIds(REQUESTS);
      const ownerOf = (request: number) => users[request % ACCOUNTS]?.userId ?? '';
      for (const act of story) {
        if (act.do === 'wait') {
          now = new Date(now.getTime() + act.hours * 3_600_000);
          await billing.setClock(now);
        } else if (act.do === 'sweep') {
          await billing.app.sweep();
          model.sweep(now);
        } else if (act.do === 'admit') {
          const admission = admitRequest({
            request_id: ids[act.request] ?? '',
            svc_user_id: ownerOf(act.request),
            client_id: 'app_of_the_model',
            service: 'chat',
            estimate_micros: act.estimate,
          });
          expect(await verdictOf(admission)).toBe(model.admit(act.request, ownerOf(act.request), act.estimate, now));
        } else {
          const result =
            act.do === 'settle'
              ? { outcome: 'settled' as const, cost_micros: act.cost }
              : { outcome: act.do === 'release' ? ('released' as const) : ('uncertain' as const) };
          const costMicros = result.outcome === 'settled' ? result.cost_micros : null;
          const input = { requestId: ids[act.request] ?? '', outcome: result.outcome, costMicros };
          const [settled] = await applyOutcomes(deps, [input], 'call');
          expect(settled?.state).toBe(model.settle(act.request, result, now));
        }
        for (const { userId } of users) {
          const standing = await readStanding(billing.db, userId, 7);
          expect([standing?.pending, standing?.weekly.usedMicros, standing?.monthly.usedMicros]).toEqual([
            ...[model.pending(userId), model.usedThisWeek(userId, now), model.usedThisMonth(userId, now)],
          ]);
        }
        expect(await checkBalances(billing.db)).toEqual([]);
      }
    }),
    { numRuns: 40 },
  );
}, 180_000);
