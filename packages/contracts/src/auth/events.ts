import { z } from 'zod';
import { type DurableName, defineEvent } from '../core/event.ts';
import { clientIdSchema, idSchema } from '../core/ids.ts';
import { timestampSchema } from '../core/time.ts';
import { accountTypeSchema } from './accounts.ts';
import { revocationReasonSchema } from './connections.ts';

const appFactSchema = z.object({
  client_id: idSchema('app'),
  owner_user_id: idSchema('usr'),
  name: z.string(),
  active: z.boolean(),
});

const appEvent = <const Fact extends string>(fact: Fact, description: string, consumers: readonly DurableName[] = []) =>
  defineEvent({ subject: `auth.app.${fact}.v1`, service: 'auth', consumers, description, schema: appFactSchema });

/** Connections per fact. Keeps the transaction short on both sides, and fits into one message. */
export const DISCONNECTED_MAX = 500;

/** Returns the aggregate of facts about a connection. */
export const connectionAggregate = (userId: string, clientId: string): string => `connection:${userId}:${clientId}`;

/** Facts published by the auth service. */
export const authEvents = {
  accountCreated: defineEvent({
    subject: 'auth.account.created.v1',
    service: 'auth',
    consumers: [],
    description: 'An account was created. Aggregate: `account:<svc_user_id>`.',
    schema: z.object({ svc_user_id: idSchema('usr'), account_type: accountTypeSchema }),
  }),
  accountAccessEnded: defineEvent({
    subject: 'auth.account.access_ended.v1',
    service: 'auth',
    consumers: ['inference-gateway_account-access'],
    description:
      'API keys of an account ended, and the sessions up to `sessions_revoked_through`. Without `keys_added_since`, every key of the account that a session up to this one created ends, by any member; with it, every key that the person created or rotated since, for any account. Each fact has its own aggregate.',
    schema: z.object({
      svc_user_id: idSchema('usr'),
      sessions_revoked_through: idSchema('ses'),
      keys_added_since: timestampSchema.optional(),
    }),
  }),
  accountDeletionRequested: defineEvent({
    subject: 'auth.account.deletion_requested.v1',
    service: 'auth',
    consumers: ['billing_account-endings'],
    description:
      'The owner asked for the deletion of an account, which is erased at `erased_at` unless it is cancelled. Aggregate of the facts about deletion: `account_deletion:<svc_user_id>`.',
    schema: z.object({ svc_user_id: idSchema('usr'), erased_at: timestampSchema }),
  }),
  accountDeletionCancelled: defineEvent({
    subject: 'auth.account.deletion_cancelled.v1',
    service: 'auth',
    consumers: ['billing_account-endings'],
    description: 'The owner cancelled the deletion of an account.',
    schema: z.object({ svc_user_id: idSchema('usr') }),
  }),
  accountErased: defineEvent({
    subject: 'auth.account.erased.v1',
    service: 'auth',
    consumers: ['billing_account-endings', 'inference-gateway_erasures', 'webhook-dispatcher_erasures'],
    description:
      'An account was erased. Each service erases what names the person; the id stays as a pseudonym in ledgers and usage records.',
    schema: z.object({ svc_user_id: idSchema('usr') }),
  }),
  memberRemoved: defineEvent({
    subject: 'auth.member.removed.v1',
    service: 'auth',
    consumers: ['billing_memberships', 'inference-gateway_memberships'],
    description:
      'A person is no longer a member of an organization. Aggregate: `membership:<membership_id>`; a person who joins again has another membership.',
    schema: z.object({
      organization_id: idSchema('usr'),
      membership_id: idSchema('mem'),
      svc_user_id: idSchema('usr'),
    }),
  }),
  appRegistered: appEvent('registered', 'An app was registered. Aggregate of all app facts: `app:<client_id>`.'),
  appUpdated: appEvent('updated', 'A field of an app changed.'),
  appSuspended: appEvent(
    'suspended',
    'An app was deactivated; `auth.app.disconnected` lists the connections that ended.',
  ),
  appActivated: appEvent('activated', 'An app was activated again. It has no connections.'),
  appDeleted: appEvent('deleted', 'An app was deleted, after all its connections had ended.', [
    'webhook-dispatcher_connections',
  ]),
  appDisconnected: defineEvent({
    subject: 'auth.app.disconnected.v1',
    service: 'auth',
    consumers: ['webhook-dispatcher_disconnections'],
    description:
      'Connections of a suspended or deleted app ended, up to 500 in one fact. Each fact has its own aggregate; a connection’s `version` counts the facts about that connection.',
    schema: z.object({
      client_id: clientIdSchema,
      revoked_at: timestampSchema,
      connections: z
        .array(z.object({ svc_user_id: idSchema('usr'), version: z.int().min(1) }))
        .min(1)
        .max(DISCONNECTED_MAX),
    }),
  }),
  connectionCreated: defineEvent({
    subject: 'auth.connection.created.v1',
    service: 'auth',
    consumers: ['webhook-dispatcher_connections'],
    description: 'A user consented, for the first time or again. Aggregate: `connection:<svc_user_id>:<client_id>`.',
    schema: z.object({
      svc_user_id: idSchema('usr'),
      client_id: clientIdSchema,
      grant_id: idSchema('grt'),
      scope: z.string(),
      connected_at: timestampSchema,
    }),
  }),
  connectionRevoked: defineEvent({
    subject: 'auth.connection.revoked.v1',
    service: 'auth',
    consumers: ['webhook-dispatcher_connections'],
    description: 'One connection ended. Aggregate: `connection:<svc_user_id>:<client_id>`.',
    schema: z.object({
      svc_user_id: idSchema('usr'),
      client_id: clientIdSchema,
      reason: revocationReasonSchema,
      revoked_at: timestampSchema,
    }),
  }),
} as const;
