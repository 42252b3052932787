import {
  anniversaryPeriod,
  type ConfiguredPlan,
  endedStatusSchema,
  type Period,
  type SandboxCard,
  type SubscriptionStatus,
  toPayable,
} from '@svc/contracts';

/** A subscription as the pages show it and its clock changes it. */
export interface HostedSubscription {
  readonly id: string;
  readonly customer: string;
  readonly planId: string;
  /** Number of times that the plan is paid: the seats of an organization. */
  readonly quantity: number;
  readonly interval: 'month' | 'year';
  readonly status: SubscriptionStatus;
  readonly anchor: Date;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  readonly endedAt: Date | null;
  readonly card: SandboxCard;
  /** Status after every attempt at a payment has failed. */
  readonly whenUnpaid: 'canceled' | 'unpaid';
  /** Seconds that its own clock is ahead of the real one. */
  readonly clockAheadSeconds: number;
  /** Attempts at the overdue payment. */
  readonly failedAttempts: number;
  /** Null if no further attempt is planned. */
  readonly nextAttemptAt: Date | null;
  /** Paid for a former plan and not used. The next payments are reduced by it. */
  readonly creditMicros: number;
  /** Money that paid for the present period, credit included: what a change of plan gives back a part of. */
  readonly paidMicros: number;
}

/** Returns the time of a subscription's own clock. */
export const clockOf = ({ clockAheadSeconds }: HostedSubscription, now: Date): Date =>
  new Date(now.getTime() + clockAheadSeconds * 1000);

export const isOverdue = ({ status }: HostedSubscription): boolean => status === 'past_due' || status === 'unpaid';

/** Returns true for the states in which nothing is paid any more. */
export const hasEnded = (status: SubscriptionStatus): boolean => endedStatusSchema.safeParse(status).success;

/** Returns true for the states that no other follows. An unpaid subscription can still be paid. */
export const isFinal = (status: SubscriptionStatus): boolean =>
  status === 'canceled' || status === 'incomplete_expired';

/** Returns the paid period that contains `at`. */
export const periodAt = (anchor: Date, interval: HostedSubscription['interval'], at: Date): Period =>
  anniversaryPeriod(anchor, interval === 'year' ? 12 : 1, at);

/** Pays a subscription at `at`. If its period is over, the period that contains `at` begins. */
export const paid = (subscription: HostedSubscription, at: Date): HostedSubscription => ({
  ...(subscription.periodEnd > at ? subscription : inNextPeriod(subscription, at)),
  status: 'active',
  endedAt: null,
  failedAttempts: 0,
  nextAttemptAt: null,
});

/** Moves a subscription into the period that contains `at`. */
const inNextPeriod = (subscription: HostedSubscription, at: Date): HostedSubscription => {
  const { start, end } = periodAt(subscription.anchor, subscription.interval, at);
  return { ...subscription, periodStart: start, periodEnd: end };
};

/** Ends a subscription: nothing is paid any more. */
export const ended = (
  subscription: HostedSubscription,
  status: SubscriptionStatus,
  endedAt: Date,
): HostedSubscription => ({ ...subscription, status, endedAt, nextAttemptAt: null });

const DAY_MS = 86_400_000;
/** Days from each failed attempt at a payment to the next one. After the last attempt the subscription ends. */
const DAYS_TO_RETRY = [3, 5, 7] as const;

/** Returns true if the card pays without its holder. */
export const paysUnattended = (card: SandboxCard): boolean => card === 'succeeds';

/** Returns the time of the next event in a subscription's life; undefined if none is due. */
export const dueAt = (subscription: HostedSubscription): Date | undefined => {
  switch (subscription.status) {
    case 'active':
    case 'trialing':
      return subscription.periodEnd;
    case 'past_due':
      return subscription.nextAttemptAt ?? undefined;
    default:
      return undefined;
  }
};

/** Applies the next event in a subscription's life: renewal, requested end, failed payment, retry, or final failure. */
export const fallDue = (subscription: HostedSubscription): HostedSubscription => {
  const at = dueAt(subscription);
  if (at === undefined) return subscription;
  if (subscription.status === 'past_due') {
    return paysUnattended(subscription.card) ? paid(subscription, at) : afterFailure(subscription, at);
  }
  if (subscription.cancelAtPeriodEnd) return ended(subscription, 'canceled', at);
  if (paysUnattended(subscription.card)) return paid(subscription, at);
  // The new period begins although its payment is overdue.
  return afterFailure({ ...inNextPeriod(subscription, at), failedAttempts: 0 }, at);
};

const afterFailure = (subscription: HostedSubscription, at: Date): HostedSubscription => {
  const failedAttempts = subscription.failedAttempts + 1;
  const days = DAYS_TO_RETRY[failedAttempts - 1];
  if (days === undefined) return { ...ended(subscription, subscription.whenUnpaid, at), failedAttempts };
  return { ...subscription, status: 'past_due', failedAttempts, nextAttemptAt: new Date(at.getTime() + days * DAY_MS) };
};

/** Plans the first retry of a subscription whose `past_due` was played. Playing a state plans nothing by itself. */
export const resumeDunning = (subscription: HostedSubscription, now: Date): HostedSubscription =>
  subscription.status === 'past_due' && subscription.nextAttemptAt === null
    ? afterFailure(subscription, now)
    : subscription;

export interface Price {
  readonly amountMicros: number;
  readonly currency: string;
}

/** A change to another plan, and its price. */
interface PlanChange {
  readonly changed: HostedSubscription;
  readonly dueMicros: number;
}

/**
 * Changes the plan at `at`. The money that paid for the rest of the period, counted in days, pays for the new plan, and
 * what is left of it becomes credit. A period that was free, by a promotion or as a trial, gives none. The same interval
 * keeps its period, and so does a trial; another interval begins a new period.
 */
export const changePlan = (
  subscription: HostedSubscription,
  plan: Pick<ConfiguredPlan, 'id' | 'price'>,
  at: Date,
): PlanChange => {
  const { currency, interval } = plan.price;
  const amountMicros = plan.price.amount_micros * subscription.quantity;
  const isSameInterval = interval === subscription.interval;
  const period = isSameInterval || subscription.status === 'trialing' ? {} : inNewPeriod(interval, at);
  const changed = { ...subscription, planId: plan.id, interval, ...period };
  if (subscription.status !== 'active') return { changed, dueMicros: 0 };
  const rest = restOfPeriod(subscription, at);
  const restMicros = toPayable(subscription.paidMicros * rest, currency);
  const costMicros = isSameInterval ? toPayable(amountMicros * rest, currency) : amountMicros;
  const balanceMicros = costMicros - restMicros - subscription.creditMicros;
  return {
    changed: { ...changed, creditMicros: Math.max(0, -balanceMicros), paidMicros: amountMicros },
    dueMicros: Math.max(0, balanceMicros),
  };
};

/**
 * Changes the quantity at `at`. More are paid for the rest of the period, counted in days; for fewer, their part of the money that
 * paid for the rest becomes credit. A trial costs nothing more, and a period that was free gives no credit.
 */
export const changeQuantity = (
  subscription: HostedSubscription,
  { quantity, price }: { readonly quantity: number; readonly price: Price },
  at: Date,
): PlanChange => {
  const changed = { ...subscription, quantity };
  if (subscription.status !== 'active') return { changed, dueMicros: 0 };
  const rest = restOfPeriod(subscription, at);
  const more = quantity - subscription.quantity;
  if (more < 0) {
    const partMicros = toPayable((subscription.paidMicros * -more) / subscription.quantity, price.currency);
    const creditMicros = subscription.creditMicros + toPayable(partMicros * rest, price.currency);
    return { changed: { ...changed, creditMicros, paidMicros: subscription.paidMicros - partMicros }, dueMicros: 0 };
  }
  const costMicros = toPayable(price.amountMicros * more * rest, price.currency);
  const { dueMicros, creditMicros } = useCredit(costMicros, subscription.creditMicros);
  const paidMicros = subscription.paidMicros + price.amountMicros * more;
  return { changed: { ...changed, creditMicros, paidMicros }, dueMicros };
};

/** Returns the amount of a payment after the credit, and the credit that is left. */
export const useCredit = (priceMicros: number, creditMicros: number): { dueMicros: number; creditMicros: number } => {
  const usedMicros = Math.min(priceMicros, creditMicros);
  return { dueMicros: priceMicros - usedMicros, creditMicros: creditMicros - usedMicros };
};

const inNewPeriod = (interval: HostedSubscription['interval'], at: Date) => {
  const { start, end } = periodAt(at, interval, at);
  return { anchor: at, periodStart: start, periodEnd: end };
};

/** Returns the part of the period that is left, by days begun: an amount stays the same while its page is open. */
const restOfPeriod = ({ periodStart, periodEnd }: HostedSubscription, at: Date): number => {
  const days = Math.round((periodEnd.getTime() - periodStart.getTime()) / DAY_MS);
  const left = Math.ceil((periodEnd.getTime() - at.getTime()) / DAY_MS);
  return Math.min(Math.max(left / days, 0), 1);
};
