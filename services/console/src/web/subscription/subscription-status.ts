import type { Subscription, SubscriptionStatus } from '@svc/contracts';
import type { CoreMessages, Formats } from '../i18n/index.ts';
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

/** Returns true if the current period of a subscription is paid. */
export const isPaid = (status: SubscriptionStatus): boolean => status === 'active';

/** Describes a state that is not good, with its date, in a title. */
export const titleOf = (
  { status, current_period_start: start, current_period_end: end }: Subscription,
  { plans, formats, now }: { plans: CoreMessages['plans']; formats: Formats; now: Date },
): string =>
  // A subscription cancelled at once ended before its period did, and its day is not known.
  status === 'canceled' && new Date(end) > now
    ? plans.hasEnded
    : plans.statusTitles[status](formats.date(start), formats.date(end));
