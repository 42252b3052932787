import {
  type Alert,
  type AutoTopUpFailure,
  events,
  internalRoutes,
  isId,
  type Locale,
  type PlanNotice,
  type WebhookNotice,
} from '@svc/contracts';
import { type Consumer, hasSubject, type Messaging, startConsumer } from '@svc/messaging';
import { AppError, type Binding, bind, createInternalClient } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import { type AccountRecord, findAccountById } from './accounts/index.ts';
import { type AppFinder, findAppById, isOwned } from './apps/index.ts';
import { formatAmount, formatDay, formatInstant, formatUse } from './formats.ts';
import { enqueueMail, type Mail, type MailOutboxDeps, type MailPage } from './mail/index.ts';
import type { Transact, Transaction } from './transact.ts';

/** Kind and data of a mail, without its recipient. */
type MailContent = Pick<Mail, 'kind' | 'data'>;

/** Account to mail, and the mail. `id` identifies the notice where the request for it may be repeated. */
interface Notice {
  readonly userId: string;
  readonly id?: string;
  readonly write: (account: AccountRecord) => MailContent | Promise<MailContent>;
}

/** Mails a notice to the owner of an account, in their language. Skips erased accounts. */
const mailNotice = async (deps: MailOutboxDeps, trx: Transaction, { userId, id, write }: Notice): Promise<void> => {
  const account = await findAccountById(trx, userId);
  if (account === undefined) return;
  // The data match the kind.
  const mail = { ...(await write(account)), userId, to: account.email, locale: account.locale } as Mail;
  await enqueueMail(deps, trx, mail, id === undefined ? {} : { noticeId: id });
};

interface MailAlertDeps extends MailOutboxDeps {
  /** Currency of the deployment. */
  readonly currency: string;
  readonly findKnownApp: AppFinder;
  readonly findKeyName: FindKeyName;
}

/** Mails an alert to the owner of the use. */
const mailAlert = (deps: MailAlertDeps, trx: Transaction, alert: Alert): Promise<void> =>
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

/** Returns the name that its owner gave to an API key. Throws if the inference gateway does not respond. */
type FindKeyName = (key: { readonly userId: string; readonly keyId: string }) => Promise<string>;

/** A mail waits for it in a transaction. */
const TIMEOUT_MS = 2_000;

/** Creates the lookup of names of API keys, which the inference gateway holds. A key that is erased has its id for a name. */
export const createKeyNames = (options: { readonly baseUrl: string; readonly token: string }): FindKeyName => {
  const client = createInternalClient({ ...options, timeoutMs: TIMEOUT_MS });
  return async ({ userId, keyId }) => {
    const params = { svc_user_id: userId, key_id: keyId };
    return (await client.call(internalRoutes.readKeyName, { params })).body.name ?? keyId;
  };
};

/** Mails the owner of a plan that it was bought, not paid, cancelled, or has ended. */
const mailPlanNotice = (
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

/** Mails the owner of a new API key. */
const mailCreatedKey = (
  deps: MailOutboxDeps,
  trx: Transaction,
  fact: z.output<typeof events.keyCreated.schema>,
): Promise<void> =>
  mailNotice(deps, trx, {
    userId: fact.svc_user_id,
    write: ({ locale }) => ({
      kind: 'api_key_created',
      data: { keyName: fact.name, prefix: fact.prefix, at: formatInstant(new Date(fact.created_at), locale) },
    }),
  });

/** Mails the owner of a wallet that an automatic top-up failed and that automatic top-ups are now off. */
const mailAutoTopUpFailure = (
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

export interface NoticeDeps extends MailAlertDeps {
  readonly database: Knex;
  readonly messaging: Messaging;
}

const { alertRaised, autoTopUpFailed, planNoticeRaised } = events;

/** Starts the consumer that mails billing's notices to their owners. */
export const startNoticeConsumer = (deps: NoticeDeps): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'auth_billing-notices',
    subjects: [alertRaised.subject, autoTopUpFailed.subject, planNoticeRaised.subject],
    handle: (trx, fact) => {
      if (hasSubject(fact, alertRaised.subject)) return mailAlert(deps, trx, fact.data);
      return hasSubject(fact, planNoticeRaised.subject)
        ? mailPlanNotice(deps, trx, fact.data)
        : mailAutoTopUpFailure(deps, trx, fact.data);
    },
  });

/** Starts the consumer that mails owners of new API keys. */
export const startKeyNoticeConsumer = (deps: NoticeDeps): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'auth_key-notices',
    subjects: [events.keyCreated.subject],
    handle: (trx, { data }) => mailCreatedKey(deps, trx, data),
  });

type WebhookNoticeDeps = MailOutboxDeps & { readonly transact: Transact };

/**
 * Mails the owner of a webhook, once, that it is blocked, is paused, or has recovered. The webhook is that of an app or an
 * account. Throws `not_found`.
 */
const mailWebhookNotice = (deps: WebhookNoticeDeps, ownerId: string, notice: WebhookNotice): Promise<void> =>
  deps.transact(async (trx) => {
    const { userId, appName, page } = await findOwner(trx, ownerId);
    const { change, event, event_id: eventId, last_attempt_at: lastAttemptAt } = notice;
    await mailNotice(deps, trx, {
      userId,
      id: [ownerId, eventId, lastAttemptAt, change].join(' '),
      write: ({ locale }) => {
        if (change === 'recovered') return { kind: 'webhook_recovered', data: { appName, page } };
        if (change === 'paused') return { kind: 'webhook_paused', data: { appName, page } };
        const at = formatInstant(new Date(lastAttemptAt), locale);
        return { kind: 'webhook_blocked', data: { appName, event, eventId, at, page } };
      },
    });
  });

interface WebhookOwner {
  /** Account to mail. */
  readonly userId: string;
  /** Null for the account's own webhook. */
  readonly appName: string | null;
  /** Page of the webhook in the console. */
  readonly page: MailPage;
}

const findOwner = async (trx: Transaction, ownerId: string): Promise<WebhookOwner> => {
  if (isId('usr', ownerId)) return { userId: ownerId, appName: null, page: 'account/webhook' };
  const app = await findAppById(trx, ownerId);
  if (app === undefined || !isOwned(app)) throw new AppError('not_found');
  return { userId: app.ownerUserId, appName: app.name, page: `apps/${app.clientId}/webhook` };
};

/** Binds the internal routes of notices. */
export const noticeInternalRoutes = (deps: WebhookNoticeDeps): Binding[] => [
  bind(internalRoutes.mailWebhookNotice, async ({ params, body }) => {
    await mailWebhookNotice(deps, params.owner_id, body);
    return { status: 204 };
  }),
];
