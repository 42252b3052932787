import type { WebhookNotice } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { findAppById } from '../apps/index.ts';
import { formatInstant } from '../format-instant.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import type { Transact } from '../transact.ts';
import { mailNotice } from './mail-notice.ts';

export type WebhookNoticeDeps = MailOutboxDeps & { readonly transact: Transact };

/** Mails the owner of an app, once, that its webhook is blocked, or has recovered. Throws `not_found`. */
export const mailWebhookNotice = (deps: WebhookNoticeDeps, clientId: string, notice: WebhookNotice): Promise<void> =>
  deps.transact(async (trx) => {
    const app = await findAppById(trx, clientId);
    if (app === undefined) throw new AppError('not_found');
    const { change, event, event_id: eventId, last_attempt_at: lastAttemptAt } = notice;
    await mailNotice(deps, trx, {
      userId: app.ownerUserId,
      id: [clientId, eventId, lastAttemptAt, change].join(' '),
      write: ({ locale }) => {
        if (change === 'recovered') return { kind: 'webhook_recovered', data: { appName: app.name } };
        const at = formatInstant(new Date(lastAttemptAt), locale);
        return { kind: 'webhook_blocked', data: { appName: app.name, event, eventId, at } };
      },
    });
  });
