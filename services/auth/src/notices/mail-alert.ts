import type { Alert } from '@svc/contracts';
import type { Knex } from 'knex';
import { type AccountRecord, findAccountById } from '../accounts/index.ts';
import { findAppById } from '../apps/index.ts';
import { formatAmount, formatDay } from '../formats.ts';
import { enqueueMail, type Mail, type MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';

export interface MailAlertDeps extends MailOutboxDeps {
  readonly database: Knex;
  readonly currency: string;
}

type Content = Pick<Mail, 'kind' | 'data'>;

/** Mails an alert to the owner of the use, in their language. An erased account gets none. */
export const mailAlert = async (deps: MailAlertDeps, trx: Transaction, alert: Alert): Promise<void> => {
  const account = await findAccountById(trx, alert.svc_user_id);
  if (account === undefined) return;
  const { id: userId, email: to, locale } = account;
  // The data are those of the kind.
  const mail = { ...(await contentOf(deps, trx, { alert, account })), userId, to, locale } as Mail;
  await enqueueMail(deps, trx, mail);
};

const contentOf = async (
  { currency }: MailAlertDeps,
  trx: Transaction,
  { alert, account: { locale } }: { readonly alert: Alert; readonly account: AccountRecord },
): Promise<Content> => {
  const amount = formatAmount(alert.amount_micros, { currency, locale });
  const limit = formatAmount(alert.limit_micros, { currency, locale });
  const resetsOn = alert.resets_at === null ? null : formatDay(alert.resets_at, locale);
  const use = { percent: alert.threshold_percent ?? 100, used: amount, limit, resetsOn };
  switch (alert.subject) {
    case 'weekly_cap':
    case 'monthly_cap':
      return { kind: 'cap_alert', data: { ...use, isWeekly: alert.subject === 'weekly_cap' } };
    case 'app_budget': {
      const clientId = alert.client_id ?? '';
      return {
        kind: 'app_budget_alert',
        data: { ...use, appName: (await findAppById(trx, clientId))?.name ?? clientId },
      };
    }
    case 'api_key':
      return { kind: 'key_limit_alert', data: { ...use, keyId: alert.key_id ?? '' } };
    case 'wallet':
      return { kind: 'wallet_low', data: { balance: amount, below: limit } };
  }
};
