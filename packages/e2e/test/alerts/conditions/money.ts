import { randomUUID } from 'node:crypto';
import { newId, type RequestOutcome } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { expect } from 'vitest';
import { call } from '../../support/api.ts';
import { type Caller, fundedCaller } from '../callers.ts';
import type { Condition } from '../condition.ts';
import { publishFact, usageFact } from '../facts.ts';
import type { Product } from '../product.ts';

/** Above the alert's threshold of ten thousand. */
const OPEN = 10_050;
/** Above the alert's threshold of fifty. */
const UNKNOWN = 60;
const WAIT_MS = 30_000;

/** Requests of a key on one lease. */
interface Leased {
  readonly caller: Caller;
  readonly leaseId: string;
  readonly ids: readonly string[];
}

const HOLD_MICROS = 10;

/** Leases what requests need that never end by themselves. */
const lease = async (product: Product, caller: Caller, count: number): Promise<Leased> => {
  const ids = Array.from({ length: count }, () => newId('req'));
  const leaseId = randomUUID();
  const answer = await product.internal('billing', '/internal/leases', {
    holder_id: randomUUID(),
    asks: [
      {
        lease_id: leaseId,
        svc_user_id: caller.userId,
        key_id: caller.keyId,
        member_id: caller.userId,
        limits: { requests_per_minute: null, tokens_per_minute: null, monthly_limit_micros: null },
        report: { returned_micros: 0, known_micros: 0, returned_in_minute: null, is_ended: false },
        needs: ids.map((request_id) => ({
          request_id,
          micros: HOLD_MICROS,
          known_micros: HOLD_MICROS,
          tokens: 0,
          tokens_least: 0,
        })),
        wanted: { micros: 0, requests: 0, tokens: 0 },
      },
    ],
  });
  expect(await answer.json()).toMatchObject({ answers: [{ state: 'held' }] });
  return { caller, leaseId, ids };
};

const settle = async (product: Product, { caller, leaseId, ids }: Leased, result: RequestOutcome): Promise<void> => {
  const key = {
    lease_id: leaseId,
    key_id: caller.keyId,
    hold_micros: HOLD_MICROS,
    estimate_micros: HOLD_MICROS,
    started_at: new Date().toISOString(),
  };
  const settlements = ids.map((request_id) => ({ request_id, svc_user_id: caller.userId, result, key }));
  await product.internal('billing', '/internal/settlements', { settlements });
};

const openIn = (product: Product, state: string) =>
  product.watch.read('billing', 'billing_open_reservations', { state });

/** Ten thousand open requests at once, of people without a plan. Too young for a sweep. */
export const manyOpenRequests = (): Condition => ({
  alerts: ['OpenReservations'],
  async begin(product) {
    await product.sql(
      'billing',
      `INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, estimate_micros, week_start, month_start, created_at)
       SELECT 'alert_' || n, 'delegated', 'usr_' || n, 'app', 'chat', 1, now(), now(), now() + interval '1 hour'
       FROM generate_series(1, $1::int) AS n`,
      [OPEN],
    );
    await waitFor(async () => (await openIn(product, 'reserved')) >= OPEN || undefined, { timeoutMs: WAIT_MS });
  },
  async end(product) {
    await product.sql('billing', "DELETE FROM reservations WHERE request_id LIKE 'alert_%'");
  },
});

/** Requests whose outcome is unknown. */
export const unknownOutcomes = (caller: Caller): Condition => ({
  alerts: ['UncertainReservations'],
  async begin(product) {
    await settle(product, await lease(product, caller, UNKNOWN), { outcome: 'uncertain' });
    await waitFor(async () => (await openIn(product, 'uncertain')) >= UNKNOWN || undefined, { timeoutMs: WAIT_MS });
  },
});

/** Uncertain requests that are settled at their deadline. Follows `unknownOutcomes`. */
export const outcomesThatNeverCame: Condition = {
  alerts: ['SettledAtEstimate'],
  async begin(product) {
    await product.sql('billing', "UPDATE uncertain_key_requests SET uncertain_at = uncertain_at - interval '60 days'");
    await waitFor(async () => (await openIn(product, 'uncertain')) === 0 || undefined, { timeoutMs: WAIT_MS });
  },
};

/** One request with two contradictory outcomes. */
export const twoEnds = (caller: Caller): Condition => ({
  alerts: ['SettlementConflict'],
  async begin(product) {
    const leased = await lease(product, caller, 1);
    for (const cost_micros of [5, 7]) await settle(product, leased, { outcome: 'settled', cost_micros });
  },
});

/** Provider usage that costs more than the wallet holds. */
export const costBeyondWallet = (): Condition => ({
  alerts: ['CostWrittenOff'],
  async begin(product) {
    const leased = await lease(product, await fundedCaller(), 1);
    await settle(product, leased, { outcome: 'settled', cost_micros: 1_000_000_000 });
  },
});

/** Usage of a request that was never admitted, as after a restore or from a foreign gateway. */
export const usageOfNobody = (caller: Caller): Condition => ({
  alerts: ['UnadmittedUsage'],
  async begin(product) {
    const seen = () => product.watch.read('billing', 'billing_unadmitted_usage_total');
    const before = await seen();
    await publishFact(product, usageFact({ keyId: caller.keyId, userId: caller.userId, costMicros: 5 }));
    await waitFor(async () => (await seen()) > before || undefined, { timeoutMs: WAIT_MS });
  },
});

/** A payment that differs from the price. The alert lasts a day, so `end` ages the session. */
export const mismatchedPayment = (caller: Caller): Condition => {
  let session = '';
  return {
    alerts: ['PaymentMismatch'],
    async begin(product) {
      const urls = { success_url: 'https://console.example/ok', cancel_url: 'https://console.example/no' };
      const body = { amount_micros: 5_000_000, ...urls };
      const topUp = await call('POST', '/v1/gateway/wallet/top-ups', { token: caller.token, body });
      session = String(topUp.body.session_id);
      await product.sql('billing', 'UPDATE checkout_sessions SET asked_micros = 1 WHERE id = $1', [session]);
      await call('POST', `/sandbox/payments/sessions/${session}/complete`);
      const measured = () => product.watch.read('billing', 'billing_mismatched_payments');
      await waitFor(async () => (await measured()) > 0 || undefined, { timeoutMs: WAIT_MS });
    },
    async end(product) {
      const age = "UPDATE checkout_sessions SET completed_at = completed_at - interval '2 days' WHERE id = $1";
      await product.sql('billing', age, [session]);
    },
  };
};
