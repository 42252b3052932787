import type { Subscription, SubscriptionStatus } from '@svc/contracts';
import type { Tone } from '../ui/index.ts';

/** States in which another subscription can be bought. */
const ENDED: ReadonlySet<SubscriptionStatus> = new Set(['canceled', 'unpaid', 'incomplete_expired']);

/** Returns true if the subscription has ended, so that another plan can be chosen. */
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

/** Returns true for a subscription that is paid for, and was cancelled for the end of its period. */
export const isEnding = ({
  status,
  cancel_at_period_end,
}: Pick<Subscription, 'status' | 'cancel_at_period_end'>): boolean => cancel_at_period_end && toneOf(status) === 'good';
