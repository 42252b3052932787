import { events } from '@svc/contracts';
import { type Consumer, type Messaging, startConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { deleteKeysOfUser, endKeysOfAccount } from './queries.ts';

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

/** Starts the consumer that erases the keys of erased accounts, whose names may name a person. */
export const startErasureConsumer = (deps: { readonly database: Knex; readonly messaging: Messaging }): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'inference-gateway_erasures',
    subjects: [events.accountErased.subject],
    handle: (trx, { data }) => deleteKeysOfUser(trx, data.svc_user_id),
  });
