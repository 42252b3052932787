import type { Alert, Locale } from '@svc/contracts';
import type { AppFinder } from '../apps/index.ts';
import { formatAmount, formatDay, formatUse } from '../format-amount.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';
import type { FindKeyName } from './key-names.ts';
import { type MailContent, mailNotice } from './mail-notice.ts';

export interface MailAlertDeps extends MailOutboxDeps {
  /** Currency of the deployment. */
  readonly currency: string;
  readonly findKnownApp: AppFinder;
  readonly findKeyName: FindKeyName;
}

/** Mails an alert to the owner of the use. */
export const mailAlert = (deps: MailAlertDeps, trx: Transaction, alert: Alert): Promise<void> =>
  mailNotice(deps, trx, {
    userId: alert.svc_user_id,
    write: ({ locale }) => writeAlert(deps, alert, locale),
  });

const writeAlert = async (
  { currency, findKnownApp, findKeyName }: MailAlertDeps,
  alert: Alert,
  locale: Locale,
): Promise<MailContent> => {
  const format = { currency, locale };
  const amount = formatUse(alert.amount_micros, format);
  const limit = formatAmount(alert.limit_micros, format);
  const resetsOn = alert.resets_at === null ? null : formatDay(alert.resets_at, locale);
  const use = { percent: alert.threshold_percent ?? 100, used: amount, limit, resetsOn };
  switch (alert.subject) {
    case 'weekly_cap':
    case 'monthly_cap':
      return {
        kind: 'cap_alert',
        data: { ...use, isWeekly: alert.subject === 'weekly_cap', planName: alert.plan_name ?? '' },
      };
    case 'app_budget': {
      const clientId = alert.client_id ?? '';
      const appName = (await findKnownApp(clientId))?.name ?? clientId;
      return { kind: 'app_budget_alert', data: { ...use, appName } };
    }
    case 'extra_use':
      return { kind: 'extra_use_alert', data: use };
    case 'api_key': {
      const keyName = await findKeyName({ userId: alert.svc_user_id, keyId: alert.key_id ?? '' });
      return { kind: 'key_limit_alert', data: { ...use, keyName } };
    }
    case 'wallet':
      return { kind: 'wallet_low', data: { balance: amount, below: limit } };
  }
};
