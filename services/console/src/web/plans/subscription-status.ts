import type { SubscriptionStatus } from '@svc/contracts';
import type { Tone } from '../ui/index.ts';

/** States in which another subscription can be bought. */
const ENDED: ReadonlySet<SubscriptionStatus> = new Set(['canceled', 'unpaid', 'incomplete_expired']);

/** The subscription has ended: a plan can be chosen anew. */
export const hasEnded = (status: SubscriptionStatus): boolean => ENDED.has(status);

/** Returns the tone of a state. */
export const toneOf = (status: SubscriptionStatus): Tone => {
  switch (status) {
    case 'active':
    case 'trialing':
      return 'good';
    case 'past_due':
    case 'incomplete':
    case 'paused':
      return 'warn';
    case 'canceled':
    case 'unpaid':
    case 'incomplete_expired':
      return 'bad';
  }
};
