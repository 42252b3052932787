import { internalRoutes, routes } from '@svc/contracts';
import { type Activity, createBillingCalls, type WorkloadParts } from './activity.ts';
import type { BillingProcess } from './billing-process.ts';
import type { Fleet } from './fleet.ts';
import { reversalsOf, stripeActivitiesOf } from './stripe-activities.ts';

const CALL_TIMEOUT_MS = 30_000;
const URLS = { success_url: 'https://app.test/ok', cancel_url: 'https://app.test/no' };

export interface Workload {
  readonly begin: () => void;
  /** Ends the activities that make new work. Third parties go on. */
  readonly wind: () => void;
  /** Calls that have not ended. */
  readonly running: () => number;
}

/** Starts activities at random times. A failed one is a failure that its caller saw, which is no fault. */
export const createWorkload = (
  { surroundings }: WorkloadParts,
  activities: readonly Activity[],
  lasting: ReadonlySet<string>,
): Workload => {
  const { time, random } = surroundings;
  let isWinding = false;
  let running = 0;
  const repeat = (activity: Activity): void => {
    time.schedule(random.around(isWinding ? 5 * activity.meanMs : activity.meanMs), activity.name, () => {
      if (isWinding && !lasting.has(activity.name)) return;
      repeat(activity);
      running += 1;
      const end = (): void => {
        running -= 1;
      };
      activity.run().then(end, end);
    });
  };
  return {
    begin: () => {
      for (const activity of activities) repeat(activity);
    },
    wind: () => {
      isWinding = true;
    },
    running: () => running,
  };
};

/** Activities that go on while the system drains: third parties that repeat what was not delivered. */
export const LASTING: ReadonlySet<string> = new Set(['payment event', 'recovery']);

export const activitiesOf = (parts: WorkloadParts): readonly Activity[] => [
  ...requestsOf(parts),
  ...purchasesOf(parts),
  ...stripeActivitiesOf(parts),
  ...reversalsOf(parts),
  ...partnersOf(parts),
];

const requestsOf = ({ surroundings, fleet, population }: WorkloadParts): Activity[] => {
  const { random, network } = surroundings;
  const askGateway = (serve: (gateway: NonNullable<ReturnType<Fleet['gateway']>>) => Promise<void>): Promise<void> => {
    const gateway = fleet.gateway();
    if (gateway === undefined) return Promise.resolve();
    const target = () => (gateway.process.isAlive ? gateway.process : undefined);
    return network.call({ from: 'client', to: gateway.process.name, timeoutMs: CALL_TIMEOUT_MS, target }, () =>
      serve(gateway),
    );
  };
  return [
    {
      name: 'delegated request',
      meanMs: 18,
      run: () =>
        askGateway((gateway) =>
          gateway.serveDelegated({ userId: random.pick(population.users), clientId: random.pick(population.apps) }),
        ),
    },
    {
      name: 'key request',
      meanMs: 14,
      run: () => askGateway((gateway) => gateway.serveKey(random.pick(population.keys))),
    },
  ];
};

const purchasesOf = (parts: WorkloadParts): Activity[] => {
  const { surroundings, stripe, population } = parts;
  const { random, time } = surroundings;
  const { askBilling, callerOf } = createBillingCalls(parts);
  /** Buys something: starts a checkout, pays it at the provider, and confirms it once, twice or never. */
  const buy = async (userId: string, start: (billing: BillingProcess) => Promise<unknown>): Promise<void> => {
    // The handlers answer by the contract of their routes.
    surroundings.count('checkout');
    const { session_id } = (await askBilling('client', start)) as { session_id: string };
    await pause(random.around(300));
    const hosted = stripe.list('checkout.session').find((session) => session.client_reference_id === session_id);
    if (hosted === undefined || random.chance(0.15)) return;
    stripe.pay(hosted.id, new Date(time.nowMs()));
    if (random.chance(0.2)) return;
    const confirm = () =>
      askBilling('client', (billing) =>
        billing.call(routes.confirmCheckout, { body: { session_id }, caller: callerOf(userId) }),
      );
    surroundings.count('confirmation');
    if (random.chance(0.3)) await Promise.allSettled([confirm(), confirm()]);
    else await confirm();
  };
  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      time.schedule(milliseconds, 'a person thinks', resolve);
    });
  return [
    {
      name: 'subscription checkout',
      meanMs: 300,
      run: () => {
        const userId = random.pick(population.users);
        const body = { plan_id: random.pick(['small', 'large']), ...URLS };
        return buy(userId, (billing) => billing.call(routes.createCheckout, { body, caller: callerOf(userId) }));
      },
    },
    {
      name: 'top-up',
      meanMs: 250,
      run: () => {
        const userId = random.pick(population.users);
        const body = { amount_micros: random.integer(1, 4) * 1_000_000, ...URLS };
        return buy(userId, (billing) => billing.call(routes.createTopUp, { body, caller: callerOf(userId) }));
      },
    },
    {
      name: 'app budget',
      meanMs: 700,
      run: async () => {
        const params = { svc_user_id: random.pick(population.users), client_id: random.pick(population.apps) };
        const period = random.pick(['week', 'month', 'total']);
        const budget = random.chance(0.25) ? null : { limit_micros: random.integer(1, 8) * 50_000, period };
        const body = random.chance(0.1) ? { paused: random.chance(0.3) } : { budget, paused: false };
        surroundings.count('app budget');
        await askBilling('auth', (billing) => billing.call(internalRoutes.changeAppTerms, { params, body }));
      },
    },
  ];
};

const partnersOf = ({ surroundings, fleet, population, connections }: WorkloadParts): Activity[] => {
  const { random } = surroundings;
  return [
    {
      name: 'connection',
      meanMs: 500,
      run: async () => {
        surroundings.count('connection');
        connections.toggle(random.pick(population.users), random.pick(population.apps));
      },
    },
    {
      name: 'recovery',
      meanMs: 2_000,
      run: async () => {
        const clientId = random.pick(population.apps);
        await fleet.dispatcher()?.retry(clientId);
      },
    },
  ];
};
