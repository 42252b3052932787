import { events } from '@svc/contracts';
import { type Consumer, type Messaging, startConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { endKeysOfAccount } from './queries.ts';

/** Starts the consumer that deletes the keys of accounts without access. Their revocations already block the keys. */
export const startAccessConsumer = (deps: {
  readonly database: Knex;
  readonly messaging: Messaging;
  readonly clock: () => number;
}): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'inference-gateway_account-access',
    subjects: [events.accountAccessEnded.subject],
    handle: (trx, { data }) =>
      endKeysOfAccount(trx, {
        userId: data.svc_user_id,
        sessionsRevokedThrough: data.sessions_revoked_through,
        at: new Date(deps.clock()),
      }),
  });
