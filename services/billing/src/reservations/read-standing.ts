import type { Period, PlanServices, SubscriptionStatus } from '@svc/contracts';
import type { Knex } from 'knex';
import { findPlanById, type PlanTerms } from '../plans/index.ts';
import { findAccount } from './account-queries.ts';
import { monthlyWindow, usedPercent, weeklyWindow } from './windows.ts';

/** Use of one window against its cap. */
export interface WindowUse {
  readonly usedMicros: number;
  readonly limitMicros: number;
  readonly usedPercent: number;
  readonly resetsAt: Date;
}

/** Current subscription, services and use of an account. */
export interface AccountStanding {
  readonly status: SubscriptionStatus;
  readonly plan: PlanTerms;
  /** Services of the plan while the subscription admits requests, including the grace period; none otherwise. */
  readonly services: PlanServices;
  readonly period: Period;
  readonly weekly: WindowUse;
  readonly monthly: WindowUse;
  readonly pending: number;
}

/** Services of an account without a subscription that admits requests. */
export const NO_SERVICES: PlanServices = { chat: false, audio_transcription: false };

/**
 * Reads the standing of an account; undefined if it never had a subscription. Shows a window that has ended since the
 * last admission as empty, because only admission rolls windows.
 */
export const readStanding = async (
  database: Knex,
  userId: string,
  pastDueGraceDays: number,
): Promise<AccountStanding | undefined> => {
  const account = await findAccount(database, userId, pastDueGraceDays);
  if (account === undefined) return undefined;
  const plan = await findPlanById(database, account.planId);
  if (plan === undefined) throw new Error(`the plan ${account.planId} of an account is missing`);
  const { at, terms, week, month } = account;
  const weekly = at < week.end ? week : { usedMicros: 0, end: weeklyWindow(terms.anchor, at).end };
  const monthly = at < month.end ? month : { usedMicros: 0, end: monthlyWindow(terms, at).end };
  return {
    status: account.status,
    plan,
    services: account.admits ? plan.services : NO_SERVICES,
    period: terms.period,
    weekly: toUse(weekly, plan.weeklyLimitMicros),
    monthly: toUse(monthly, plan.monthlyLimitMicros),
    pending: account.pending,
  };
};

const toUse = (window: { usedMicros: number; end: Date }, limitMicros: number): WindowUse => ({
  usedMicros: window.usedMicros,
  limitMicros,
  usedPercent: usedPercent(window.usedMicros, limitMicros),
  resetsAt: window.end,
});
