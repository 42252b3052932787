import { events } from '@svc/contracts';
import { type Consumer, type Messaging, startConsumer } from '@svc/messaging';
import { type MailAlertDeps, mailAlert } from './mail-alert.ts';
import { mailCreatedKey } from './mail-created-key.ts';

export interface NoticeDeps extends MailAlertDeps {
  readonly messaging: Messaging;
}

/** Starts the consumer that mails billing's notices to their owners. */
export const startNoticeConsumer = (deps: NoticeDeps): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'auth_billing-notices',
    subjects: [events.alertRaised.subject],
    handle: (trx, { data }) => mailAlert(deps, trx, data),
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
