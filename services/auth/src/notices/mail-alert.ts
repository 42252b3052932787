import type { Alert, Locale } from '@svc/contracts';
import { findAppById } from '../apps/index.ts';
import { formatAmount, formatDay } from '../format-amount.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';
import { type MailContent, mailNotice } from './mail-notice.ts';

export interface MailAlertDeps extends MailOutboxDeps {
  /** Currency of the deployment. */
  readonly currency: string;
}

/** Mails an alert to the owner of the use. */
export const mailAlert = (deps: MailAlertDeps, trx: Transaction, alert: Alert): Promise<void> =>
  mailNotice(deps, trx, {
    userId: alert.svc_user_id,
    write: ({ locale }) => writeAlert(trx, alert, { currency: deps.currency, locale }),
  });

const writeAlert = async (
  trx: Transaction,
  alert: Alert,
  format: { readonly currency: string; readonly locale: Locale },
): Promise<MailContent> => {
  const amount = formatAmount(alert.amount_micros, format);
  const limit = formatAmount(alert.limit_micros, format);
  const resetsOn = alert.resets_at === null ? null : formatDay(alert.resets_at, format.locale);
  const use = { percent: alert.threshold_percent ?? 100, used: amount, limit, resetsOn };
  switch (alert.subject) {
    case 'weekly_cap':
    case 'monthly_cap':
      return { kind: 'cap_alert', data: { ...use, isWeekly: alert.subject === 'weekly_cap' } };
    case 'app_budget': {
      const clientId = alert.client_id ?? '';
      const appName = (await findAppById(trx, clientId))?.name ?? clientId;
      return { kind: 'app_budget_alert', data: { ...use, appName } };
    }
    case 'api_key':
      return { kind: 'key_limit_alert', data: { ...use, keyId: alert.key_id ?? '' } };
    case 'wallet':
      return { kind: 'wallet_low', data: { balance: amount, below: limit } };
  }
};
