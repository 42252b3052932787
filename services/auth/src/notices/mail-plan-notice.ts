import type { PlanNotice } from '@svc/contracts';
import { formatDay } from '../format-amount.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';
import { mailNotice } from './mail-notice.ts';

/** Mails the owner of a plan that it was bought, not paid, cancelled, or has ended. */
export const mailPlanNotice = (
  deps: MailOutboxDeps,
  trx: Transaction,
  { svc_user_id: userId, kind, plan, at, is_unpaid: isUnpaid }: PlanNotice,
): Promise<void> =>
  mailNotice(deps, trx, {
    userId,
    write: ({ locale }) => {
      const data = { planName: plan.name, on: formatDay(at, locale) };
      switch (kind) {
        case 'purchased':
          return { kind: 'plan_purchased', data };
        case 'payment_failed':
          return { kind: 'plan_payment_failed', data };
        case 'cancelled':
          return { kind: 'plan_cancelled', data };
        case 'ended':
          return { kind: 'plan_ended', data: { ...data, isUnpaid } };
      }
    },
  });
