import { events } from '@svc/contracts';
import { appendToOutbox, type Consumer, type Messaging, startConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { deleteKeysOfUser, endKeysOfAccount, updateCreatorLeft } from './access-queries.ts';

/** Starts the consumer that deletes the keys of accounts whose access ended. */
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
    handle: async (trx, { data, occurred_at }) => {
      const ended = await endKeysOfAccount(trx, {
        userId: data.svc_user_id,
        sessionsRevokedThrough: data.sessions_revoked_through,
        addedSince: data.keys_added_since === undefined ? undefined : new Date(data.keys_added_since),
        endedAt: new Date(occurred_at),
        at: new Date(deps.clock()),
      });
      // Where all keys end, auth has published one revocation for them.
      if (data.keys_added_since === undefined || ended.length === 0) return;
      await appendToOutbox(trx, ...ended.map((id) => ({ revocation: { key: `key.${id}` } })));
    },
  });

/** Starts the consumer that marks the keys of members who have left an organization. The keys stay valid. */
export const startMembershipConsumer = (deps: { readonly database: Knex; readonly messaging: Messaging }): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'inference-gateway_memberships',
    subjects: [events.memberRemoved.subject],
    handle: (trx, { data, occurred_at }) =>
      updateCreatorLeft(trx, {
        membershipId: data.membership_id,
        organizationId: data.organization_id,
        userId: data.svc_user_id,
        endedAt: new Date(occurred_at),
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
