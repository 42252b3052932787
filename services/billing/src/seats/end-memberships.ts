import { events } from '@svc/contracts';
import { type Consumer, type Messaging, startConsumer, withOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import type { ReducerDeps, StoredSubscription } from '../subscriptions/index.ts';
import { takeAway } from './assign-seat.ts';
import { findSeat, findSeatOfMembership, insertEndedMembership, lockSeats } from './queries.ts';

/**
 * Starts the consumer of removed members: the seat of the membership ends at once. The membership is remembered, so that an
 * assignment that has asked auth before gives no seat.
 */
export const startMembershipConsumer = (
  deps: ReducerDeps & { readonly database: Knex; readonly messaging: Messaging },
): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'billing_memberships',
    subjects: [events.memberRemoved.subject],
    handle: async (trx, { data }) => {
      const membership = { organizationId: data.organization_id, membershipId: data.membership_id };
      await lockSeats(trx, membership.organizationId);
      await insertEndedMembership(trx, membership);
      await takeAway(deps, trx, await findSeatOfMembership(trx, membership));
    },
  });

/** Ends the seat of a member whose account is erased. */
export const endSeatOfErased = (
  deps: ReducerDeps & { readonly database: Knex; readonly relay: { readonly hint: () => void } },
  { userId, paidBy: organizationId }: StoredSubscription,
): Promise<void> =>
  withOutbox(deps, async (trx) => {
    if (organizationId === null) return;
    await lockSeats(trx, organizationId);
    await takeAway(deps, trx, await findSeat(trx, { organizationId, userId }));
  });
