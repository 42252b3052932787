import { events, type PlanNotice } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { findPlanById } from '../plans/index.ts';
import { isEnded, type StoredSubscription } from './subscription.ts';

const DAY_MS = 86_400_000;

/** A plan, or the seats of a plan, as a mail names it. */
type Noticed = Pick<
  StoredSubscription,
  'id' | 'userId' | 'status' | 'planId' | 'periodEnd' | 'cancelAtPeriodEnd' | 'pastDueSince' | 'endedAt' | 'revision'
>;

/**
 * Publishes what the owner of a plan, or of seats, is mailed about its change, in the transaction of the change. The purchase of
 * seats is no plan of the organization itself, so no mail says so.
 */
export const raisePlanNotice = async (
  { pastDueGraceDays }: { readonly pastDueGraceDays: number },
  trx: Knex.Transaction,
  { before, after, seats }: { readonly before: Noticed | undefined; readonly after: Noticed; readonly seats?: number },
): Promise<void> => {
  const notice = noticeOf(before, after, pastDueGraceDays);
  if (notice === undefined || (seats !== undefined && notice.kind === 'purchased')) return;
  const name = (await findPlanById(trx, after.planId))?.name ?? after.planId;
  await appendToOutbox(trx, {
    subject: events.planNoticeRaised.subject,
    aggregate: `plan_notice:${after.id}:${after.revision}`,
    version: 1,
    data: {
      svc_user_id: after.userId,
      kind: notice.kind,
      plan: { id: after.planId, name: seats === undefined ? name : `${seats} × ${name}` },
      at: notice.at.toISOString(),
      is_unpaid: after.status === 'unpaid',
    },
  });
};

const PAID: ReadonlySet<StoredSubscription['status']> = new Set(['active', 'trialing']);

const noticeOf = (
  before: Noticed | undefined,
  after: Noticed,
  graceDays: number,
): { readonly kind: PlanNotice['kind']; readonly at: Date } | undefined => {
  const wasNeverPaid = before === undefined || before.status === 'incomplete';
  if (isEnded(after.status)) {
    if (wasNeverPaid || isEnded(before.status)) return undefined;
    return { kind: 'ended', at: after.endedAt ?? after.periodEnd };
  }
  if (after.status === 'past_due' && before?.status !== 'past_due' && after.pastDueSince !== null) {
    return { kind: 'payment_failed', at: new Date(after.pastDueSince.getTime() + graceDays * DAY_MS) };
  }
  if (!PAID.has(after.status)) return undefined;
  if (wasNeverPaid) return { kind: 'purchased', at: after.periodEnd };
  return after.cancelAtPeriodEnd && !before.cancelAtPeriodEnd ? { kind: 'cancelled', at: after.periodEnd } : undefined;
};
