import { events } from '@svc/contracts';
import { type Consumer, hasSubject, type Messaging, startConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { type MailAlertDeps, mailAlert } from './mail-alert.ts';
import { mailAutoTopUpFailure } from './mail-auto-top-up-failure.ts';
import { mailCreatedKey } from './mail-created-key.ts';
import { mailPlanNotice } from './mail-plan-notice.ts';

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
