import { randomUUID } from 'node:crypto';
import { newId, type SubscriptionSnapshot } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { expect } from 'vitest';
import { call, type Dispatcher, newOwner, type Owner, publishFact, type World } from './dispatcher.ts';

const CONNECTED_AT = '2026-11-20T10:00:00.000Z';
const REVOKED_AT = '2026-11-20T11:00:00.000Z';

export const snapshot = (revision: number): SubscriptionSnapshot => ({
  status: 'active',
  plan: { id: 'starter', name: 'Starter' },
  period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  cancel_at_period_end: false,
  budget: { weekly_used_percent: 3, monthly_used_percent: 1, services: { chat: true, audio_transcription: false } },
  revision,
});

/** A user and an app. */
export interface Pair {
  readonly userId: string;
  readonly clientId: string;
}

/** Publishes the facts of auth and billing, and reads the events that they cause. */
export const createFacts = (world: World, dispatcher: Dispatcher) => {
  const sentTo = async (clientId: string): Promise<string[]> => {
    const rows = await world.database.knex('events').where({ owner_id: clientId }).orderBy('sequence').select('body');
    return rows.map(({ body }) => {
      const { event, data } = JSON.parse(body.toString());
      return data.revision === undefined ? event : `${event} ${data.revision}`;
    });
  };
  return {
    newConfiguredApp: async (): Promise<Owner> => {
      const owner = await newOwner(world);
      expect((await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }])).status).toBe(200);
      return owner;
    },
    connect: ({ userId, clientId }: Pair, version = 1) =>
      publishFact(world, {
        subject: 'auth.connection.created.v1',
        aggregate: `connection:${userId}:${clientId}`,
        version,
        data: {
          svc_user_id: userId,
          client_id: clientId,
          grant_id: newId('grt'),
          scope: 'inference usage:read',
          connected_at: CONNECTED_AT,
        },
      }),
    disconnect: ({ userId, clientId }: Pair, version: number) =>
      publishFact(world, {
        subject: 'auth.connection.revoked.v1',
        aggregate: `connection:${userId}:${clientId}`,
        version,
        data: { svc_user_id: userId, client_id: clientId, reason: 'user_disconnected', revoked_at: REVOKED_AT },
      }),
    /** Ends connections of a suspended app, many in one fact. */
    suspend: (clientId: string, users: readonly string[], version = 2) =>
      publishFact(world, {
        subject: 'auth.app.disconnected.v1',
        aggregate: `disconnection:${randomUUID()}`,
        version: 1,
        data: {
          client_id: clientId,
          revoked_at: REVOKED_AT,
          connections: users.map((svc_user_id) => ({ svc_user_id, version })),
        },
      }),
    changeSubscription: (userId: string, revision: number) =>
      publishFact(world, {
        subject: 'billing.subscription.changed.v1',
        aggregate: `subscription:${userId}`,
        version: revision,
        data: { svc_user_id: userId, ...snapshot(revision) },
      }),
    endSubscription: (userId: string, revision: number, endedAt: string) =>
      publishFact(world, {
        subject: 'billing.subscription.ended.v1',
        aggregate: `subscription:${userId}`,
        version: revision,
        data: { svc_user_id: userId, status: 'canceled', ended_at: endedAt, revision, current_period_end: endedAt },
      }),
    /** Publishes the last fact of a subject again, without a message id, so that the broker does not deduplicate it. */
    publishAgain: async (subject: string) => {
      const { data } = await world.operator.manager.streams.getMessage('AUTH', { last_by_subj: subject });
      await world.operator.jetstream.publish(subject, data);
    },
    /** Returns the names of the app's events in order, with the revision of those that have one. */
    sentTo,
    untilSent: (clientId: string, events: readonly string[], timeoutMs = 5_000) =>
      waitFor(async () => JSON.stringify(await sentTo(clientId)) === JSON.stringify(events), { timeoutMs }),
  };
};
