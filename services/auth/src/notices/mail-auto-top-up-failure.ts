import type { AutoTopUpFailure } from '@svc/contracts';
import { formatAmount } from '../format-amount.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';
import { mailNotice } from './mail-notice.ts';

/** Mails the owner of a wallet that an automatic top-up failed and that automatic top-ups are now off. */
export const mailAutoTopUpFailure = (
  deps: MailOutboxDeps,
  trx: Transaction,
  { svc_user_id: userId, amount_micros, currency, reason }: AutoTopUpFailure,
): Promise<void> =>
  mailNotice(deps, trx, {
    userId,
    write: ({ locale }) => ({
      kind: 'auto_top_up_failed',
      data: { amount: formatAmount(amount_micros, { currency, locale }), reason },
    }),
  });
