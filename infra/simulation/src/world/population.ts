import type { ConfiguredPlan } from '@svc/contracts';
import { newId } from '@svc/contracts';

const plan = (id: string, priceMicros: number, weekly: number, monthly: number): ConfiguredPlan => ({
  id,
  name: id,
  description: id,
  price: { amount_micros: priceMicros, currency: 'EUR', interval: 'month' },
  weekly_limit_micros: weekly,
  monthly_limit_micros: monthly,
  services: { chat: true, audio_transcription: true },
  stripe_price_id: `price_${id}`,
});

/** Small limits, so that requests meet them. */
export const PLANS: readonly ConfiguredPlan[] = [
  plan('small', 5_000_000, 100_000, 500_000),
  plan('large', 20_000_000, 2_000_000, 6_000_000),
];

/** An API key with limits that requests meet. */
export interface SimulatedKey {
  readonly id: string;
  readonly userId: string;
  readonly requestsPerMinute: number | null;
  readonly monthlyLimitMicros: number | null;
}

/** The accounts, apps and keys of one simulation. Few, so that requests meet each other. */
export interface Population {
  readonly users: readonly string[];
  readonly apps: readonly string[];
  readonly keys: readonly SimulatedKey[];
}

const USERS = 6;
const APPS = 3;

/** Creates the population, with ids from the seeded generator. */
export const createPopulation = (): Population => {
  const users = Array.from({ length: USERS }, () => newId('usr'));
  const apps = Array.from({ length: APPS }, () => newId('app'));
  const keys = users.flatMap((userId, place) => [
    { id: newId('key'), userId, requestsPerMinute: null, monthlyLimitMicros: null },
    {
      id: newId('key'),
      userId,
      requestsPerMinute: place % 2 === 0 ? 30 : null,
      monthlyLimitMicros: place % 3 === 0 ? null : 3_000_000,
    },
  ]);
  return { users, apps, keys };
};
