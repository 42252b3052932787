import type { ConfiguredPlan } from '@svc/contracts';
import { toWholeCents } from './cents.ts';
import { periodAt, type SandboxSubscription } from './sandbox-subscription.ts';

export interface Price {
  readonly amountMicros: number;
  readonly currency: string;
}

/** A change to another plan, and its price. */
export interface PlanChange {
  readonly changed: SandboxSubscription;
  readonly dueMicros: number;
}

const DAY_MS = 86_400_000;

/**
 * Changes the plan at `at`. What was paid for the rest of the period, counted in days, pays for the new plan, and what is
 * left of it becomes credit. The same interval keeps its period; another one begins a new period. A subscription that is
 * not paid, as in a trial, has nothing to settle.
 */
export const changePlan = (
  subscription: SandboxSubscription,
  plan: Pick<ConfiguredPlan, 'id' | 'price'>,
  { present, at }: { readonly present: Price | undefined; readonly at: Date },
): PlanChange => {
  const { amount_micros: amountMicros, currency, interval } = plan.price;
  const isSameInterval = interval === subscription.interval;
  const period = isSameInterval ? {} : inNewPeriod(interval, at);
  const changed = { ...subscription, planId: plan.id, interval, ...period };
  if (subscription.status !== 'active') return { changed, dueMicros: 0 };
  const rest = restOfPeriod(subscription, at);
  const paidMicros = present?.currency === currency ? toWholeCents(present.amountMicros * rest) : 0;
  const costMicros = isSameInterval ? toWholeCents(amountMicros * rest) : amountMicros;
  const balanceMicros = costMicros - paidMicros - subscription.creditMicros;
  return {
    changed: { ...changed, creditMicros: Math.max(0, -balanceMicros) },
    dueMicros: Math.max(0, balanceMicros),
  };
};

/** Returns the amount of a payment after the credit, and the credit that is left. */
export const useCredit = (priceMicros: number, creditMicros: number): { dueMicros: number; creditMicros: number } => {
  const usedMicros = Math.min(priceMicros, creditMicros);
  return { dueMicros: priceMicros - usedMicros, creditMicros: creditMicros - usedMicros };
};

const inNewPeriod = (interval: SandboxSubscription['interval'], at: Date) => {
  const { start, end } = periodAt(at, interval, at);
  return { anchor: at, periodStart: start, periodEnd: end };
};

/** Returns the part of the period that is left, by days begun: an amount stays the same while its page is open. */
const restOfPeriod = ({ periodStart, periodEnd }: SandboxSubscription, at: Date): number => {
  const days = Math.round((periodEnd.getTime() - periodStart.getTime()) / DAY_MS);
  const left = Math.ceil((periodEnd.getTime() - at.getTime()) / DAY_MS);
  return Math.min(Math.max(left / days, 0), 1);
};
