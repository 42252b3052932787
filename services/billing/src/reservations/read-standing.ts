import { anniversaryPeriod, type Period, type PlanServices, type SubscriptionStatus } from '@svc/contracts';
import type { Knex } from 'knex';
import { findPlanById, type PlanTerms } from '../plans.ts';

/** Terms from which an account's windows are computed. */
interface WindowTerms {
  readonly anchor: Date;
  readonly interval: 'month' | 'year';
  readonly period: Period;
}

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** Returns the week of 7 x 24 hours, counted from the anchor, that contains `at`. Same rule as SQL `weekly_window`. */
export const weeklyWindow = (anchor: Date, at: Date): Period => {
  const weeks = Math.floor((at.getTime() - anchor.getTime()) / WEEK_MS);
  const start = anchor.getTime() + weeks * WEEK_MS;
  return { start: new Date(start), end: new Date(start + WEEK_MS) };
};

/** Returns the paid month while it lasts, else the month between anniversaries. Same rule as SQL `monthly_window`. */
export const monthlyWindow = ({ anchor, interval, period }: WindowTerms, at: Date): Period =>
  interval === 'month' && at >= period.start && at < period.end ? period : anniversaryPeriod(anchor, 1, at);

/** Returns the used percentage of a limit, rounded down. 100 means that the limit has been reached. */
export const usedPercent = (usedMicros: number, limitMicros: number): number => {
  if (usedMicros >= limitMicros) return 100;
  return Number((BigInt(usedMicros) * 100n) / BigInt(limitMicros));
};

/** An account's row, with the database time of the read. */
interface AccountRow {
  readonly at: Date;
  readonly admits: boolean;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  readonly terms: WindowTerms;
  readonly week: { readonly end: Date; readonly usedMicros: number };
  readonly month: { readonly end: Date; readonly usedMicros: number };
  readonly pending: number;
}

const findAccount = async (database: Knex, userId: string, graceDays: number): Promise<AccountRow | undefined> => {
  const row = await database('accounts')
    .where({ svc_user_id: userId })
    .first(
      '*',
      database.raw('billing_now() AS at'),
      database.raw('status_admits(status, past_due_since, make_interval(days => ?), billing_now()) AS admits', [
        graceDays,
      ]),
    );
  if (row === undefined) return undefined;
  return {
    at: row.at,
    admits: row.admits,
    status: row.status,
    planId: row.plan_id,
    terms: {
      anchor: row.anchor,
      interval: row.interval,
      period: { start: row.period_start, end: row.period_end },
    },
    week: { end: row.week_end, usedMicros: row.week_used_micros },
    month: { end: row.month_end, usedMicros: row.month_used_micros },
    pending: row.pending,
  };
};

/** Entitlement given by an account's current subscription. */
export interface AccountEntitlement {
  readonly userId: string;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  /** Organization whose seat the plan is; null for a plan that the account pays. */
  readonly paidBy: string | null;
  readonly pastDueSince: Date | null;
  readonly terms: WindowTerms;
}

/** Copies an entitlement to the row on which admission decides. */
export const entitleAccount = async (trx: Knex.Transaction, entitlement: AccountEntitlement): Promise<void> => {
  const { userId, status, planId, paidBy, pastDueSince, terms } = entitlement;
  await trx.raw('SELECT entitle_account(?, ?, ?, ?, ?, ?, ?, ?, ?)', [
    ...[userId, status, planId],
    // The driver's types lack null, but it sends null as NULL.
    pastDueSince as Date,
    ...[terms.anchor, terms.interval, terms.period.start, terms.period.end],
    paidBy as string,
  ]);
};

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
