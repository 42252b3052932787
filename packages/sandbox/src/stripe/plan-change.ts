import { type ConfiguredPlan, toPayable } from '@svc/contracts';
import { type HostedSubscription, periodAt } from './hosted-subscription.ts';

export interface Price {
  readonly amountMicros: number;
  readonly currency: string;
}

/** A change to another plan, and its price. */
export interface PlanChange {
  readonly changed: HostedSubscription;
  readonly dueMicros: number;
}

const DAY_MS = 86_400_000;

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
 * Changes the quantity at `at`. More are paid for the rest of the period, counted in days; for fewer, the rest becomes credit. A
 * period that was free, by a promotion or as a trial, costs nothing more.
 */
export const changeQuantity = (
  subscription: HostedSubscription,
  { quantity, price }: { readonly quantity: number; readonly price: Price },
  at: Date,
): PlanChange => {
  const changed = { ...subscription, quantity };
  if (subscription.status !== 'active') return { changed, dueMicros: 0 };
  const more = quantity - subscription.quantity;
  const costMicros = toPayable(price.amountMicros * Math.abs(more) * restOfPeriod(subscription, at), price.currency);
  if (more < 0) return { changed: { ...changed, creditMicros: subscription.creditMicros + costMicros }, dueMicros: 0 };
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
