import type { StripeStandIn } from '@svc/sandbox/stripe';
import type { BillingProcess } from './billing-process.ts';
import type { Fleet } from './fleet.ts';
import type { Connections, Receivers } from './partners.ts';
import type { Population } from './population.ts';
import type { Surroundings } from './surroundings.ts';

const CALL_TIMEOUT_MS = 30_000;

export interface WorkloadParts {
  readonly surroundings: Surroundings;
  readonly fleet: Fleet;
  readonly stripe: StripeStandIn;
  readonly population: Population;
  readonly connections: Connections;
  readonly receivers: Receivers;
}

/** An activity of people, apps, third parties or operators. It happens at random, on average after `meanMs`. */
export interface Activity {
  readonly name: string;
  readonly meanMs: number;
  readonly run: () => Promise<unknown>;
}

/** Calls of people and third parties to billing. */
interface BillingCalls {
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
