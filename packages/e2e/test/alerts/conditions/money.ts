import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { call } from '../../support/api.ts';
import { type Caller, fundedCaller } from '../callers.ts';
import type { Condition } from '../condition.ts';
import { publishFact, usageFact } from '../facts.ts';
import { type Product, times } from '../product.ts';

/** Above the alert's threshold of ten thousand. */
const OPEN = 10_050;
const SETTLEMENTS_A_CALL = 500;
const CALLERS = 4;
/** Above the alert's threshold of fifty. */
const UNKNOWN = 60;
const WAIT_MS = 30_000;

/** Admits requests that never end, and returns their ids. */
const admit = async (product: Product, caller: Caller, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => newId('req'));
  await product.admit(
    ids.map((id) => ({
      kind: 'api_key',
      request_id: id,
      svc_user_id: caller.userId,
      key_id: caller.keyId,
      hold_micros: 10,
      requests_per_minute: null,
      monthly_limit_micros: null,
    })),
  );
  return ids;
};

const openIn = (product: Product, state: string) =>
  product.watch.read('billing', 'billing_open_reservations', { state });

/** Ten thousand open requests at once. */
export const manyOpenRequests = (): Condition => {
  const ids: string[] = [];
  return {
    alerts: ['OpenReservations'],
    async begin(product) {
      // Spread over several users, since requests of one user are admitted one after another.
      await times(CALLERS, CALLERS, async () => {
        ids.push(...(await admit(product, await fundedCaller(), Math.ceil(OPEN / CALLERS))));
      });
      await waitFor(async () => (await openIn(product, 'reserved')) >= OPEN || undefined, { timeoutMs: WAIT_MS });
    },
    async end(product) {
      const calls = Math.ceil(ids.length / SETTLEMENTS_A_CALL);
      await times(calls, 2, (index) => {
        const some = ids.slice(index * SETTLEMENTS_A_CALL, (index + 1) * SETTLEMENTS_A_CALL);
        const settlements = some.map((id) => ({ request_id: id, result: { outcome: 'released' } }));
        return product.internal('billing', '/internal/settlements', { settlements });
      });
    },
  };
};

/** Open requests of dead gateways; their rows are backdated instead of waiting. */
export const unknownOutcomes = (caller: Caller): Condition => ({
  alerts: ['UncertainReservations'],
  async begin(product) {
    const ids = await admit(product, caller, UNKNOWN);
    const earlier = "UPDATE reservations SET created_at = created_at - interval '2 hours' WHERE request_id = ANY($1)";
    await product.sql('billing', earlier, [ids]);
    await waitFor(async () => (await openIn(product, 'uncertain')) >= UNKNOWN || undefined, { timeoutMs: WAIT_MS });
  },
});

/** Uncertain requests that are settled at their deadline. Follows `unknownOutcomes`. */
export const outcomesThatNeverCame: Condition = {
  alerts: ['SettledAtEstimate'],
  async begin(product) {
    const longAgo =
      "UPDATE reservations SET uncertain_at = uncertain_at - interval '60 days' WHERE state = 'uncertain'";
    await product.sql('billing', longAgo);
    await waitFor(async () => (await openIn(product, 'uncertain')) === 0 || undefined, { timeoutMs: WAIT_MS });
  },
};

/** One request with two contradictory outcomes. */
export const twoEnds = (caller: Caller): Condition => ({
  alerts: ['SettlementConflict'],
  async begin(product) {
    const [id] = await admit(product, caller, 1);
    for (const cost of [5, 7]) {
      const result = { outcome: 'settled', cost_micros: cost };
      await product.internal('billing', '/internal/settlements', { settlements: [{ request_id: id, result }] });
    }
  },
});

/** Provider usage that costs more than the wallet holds. */
export const costBeyondWallet = (): Condition => ({
  alerts: ['CostWrittenOff'],
  async begin(product) {
    const [id] = await admit(product, await fundedCaller(), 1);
    const result = { outcome: 'settled', cost_micros: 1_000_000_000 };
    await product.internal('billing', '/internal/settlements', { settlements: [{ request_id: id, result }] });
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
