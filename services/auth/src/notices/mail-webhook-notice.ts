import { isId, type WebhookNotice } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { findAppById, isOwned } from '../apps/index.ts';
import { formatInstant } from '../format-instant.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { mailNotice } from './mail-notice.ts';

export type WebhookNoticeDeps = MailOutboxDeps & { readonly transact: Transact };

/**
 * Mails the owner of a webhook, once, that it is blocked, is paused, or has recovered. The webhook is that of an app or an
 * account. Throws `not_found`.
 */
export const mailWebhookNotice = (deps: WebhookNoticeDeps, ownerId: string, notice: WebhookNotice): Promise<void> =>
  deps.transact(async (trx) => {
    const { userId, appName } = await findOwner(trx, ownerId);
    const { change, event, event_id: eventId, last_attempt_at: lastAttemptAt } = notice;
    await mailNotice(deps, trx, {
      userId,
      id: [ownerId, eventId, lastAttemptAt, change].join(' '),
      write: ({ locale }) => {
        if (change === 'recovered') return { kind: 'webhook_recovered', data: { appName } };
        if (change === 'paused') return { kind: 'webhook_paused', data: { appName } };
        const at = formatInstant(new Date(lastAttemptAt), locale);
        return { kind: 'webhook_blocked', data: { appName, event, eventId, at } };
      },
    });
  });

/** Returns the account to mail, with the name of the app; null for the account's own webhook. */
const findOwner = async (
  trx: Transaction,
  ownerId: string,
): Promise<{ readonly userId: string; readonly appName: string | null }> => {
  if (isId('usr', ownerId)) return { userId: ownerId, appName: null };
  const app = await findAppById(trx, ownerId);
  if (app === undefined || !isOwned(app)) throw new AppError('not_found');
  return { userId: app.ownerUserId, appName: app.name };
};
