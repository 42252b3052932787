import type { SubscriptionStatus } from '@svc/contracts';
import type { Knex } from 'knex';
import type { WindowTerms } from './windows.ts';

/** An account's row, with the database time of the read. */
export interface AccountRow {
  readonly at: Date;
  readonly admits: boolean;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  readonly terms: WindowTerms;
  readonly week: { readonly end: Date; readonly usedMicros: number };
  readonly month: { readonly end: Date; readonly usedMicros: number };
  readonly pending: number;
}

export const findAccount = async (
  database: Knex,
  userId: string,
  graceDays: number,
): Promise<AccountRow | undefined> => {
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
