import { events } from '@svc/contracts';
import { type Consumer, hasSubject, type Messaging, startConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { deleteAlertSettings } from '../alerts/index.ts';
import { deleteAutoTopUp, disableAutoTopUp } from '../payments/index.ts';
import { upsertEnding } from './queries.ts';

const { accountDeletionRequested, accountDeletionCancelled, accountErased } = events;

/**
 * Starts the consumer of facts about the deletion of accounts, in their order. `applyEndings` calls the
 * payment provider afterwards, because a transaction must not wait for it.
 */
export const startEndingConsumer = (deps: { readonly database: Knex; readonly messaging: Messaging }): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'billing_account-endings',
    subjects: [accountDeletionRequested.subject, accountDeletionCancelled.subject, accountErased.subject],
    ordered: true,
    handle: async (trx, fact) => {
      const userId = fact.data.svc_user_id;
      if (hasSubject(fact, accountDeletionCancelled.subject)) return await upsertEnding(trx, userId, 'keep');
      // Nothing is charged to an account that is about to go.
      await disableAutoTopUp(trx, userId);
      if (hasSubject(fact, accountDeletionRequested.subject)) return await upsertEnding(trx, userId, 'cancel');
      await upsertEnding(trx, userId, 'erase');
      await deleteAutoTopUp(trx, userId);
      await deleteAlertSettings(trx, userId);
    },
  });
