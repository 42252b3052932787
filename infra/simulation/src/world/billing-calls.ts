import type { BillingProcess } from './billing-process.ts';
import type { WorkloadParts } from './workload.ts';

const CALL_TIMEOUT_MS = 30_000;

/** Calls of people and third parties to billing. */
export interface BillingCalls {
  /** Asks one process of billing over the network. Rejects if none runs. */
  readonly askBilling: <T>(from: string, ask: (billing: BillingProcess) => Promise<T>) => Promise<T>;
  /** Returns a user of the console who has just signed in. */
  readonly callerOf: (userId: string) => unknown;
}

export const createBillingCalls = ({
  surroundings: { network, time },
  fleet,
}: Pick<WorkloadParts, 'surroundings' | 'fleet'>): BillingCalls => ({
  askBilling: (from, ask) => {
    const billing = fleet.billing();
    if (billing === undefined) return Promise.reject(new Error('billing is down'));
    const target = () => (billing.process.isAlive ? billing.process : undefined);
    return network.call({ from, to: 'billing', timeoutMs: CALL_TIMEOUT_MS, target }, () => ask(billing));
  },
  callerOf: (userId) => ({ kind: 'console_session', userId, authenticatedAt: new Date(time.nowMs()) }),
});
