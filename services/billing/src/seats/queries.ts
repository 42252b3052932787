import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import { whereDue } from '../jobs.ts';
import type { Seat, SeatOrder, StoredOrder } from './seat-order.ts';

const ORDER = {
  id: 'id text',
  organizationId: 'svc_user_id text',
  providerSubscriptionId: 'provider_subscription_id text',
  providerTicket: 'provider_ticket bigint',
  status: 'status text',
  planId: 'plan_id text',
  quantity: 'quantity integer',
  anchor: 'anchor timestamptz',
  periodStart: 'current_period_start timestamptz',
  periodEnd: 'current_period_end timestamptz',
  cancelAtPeriodEnd: 'cancel_at_period_end boolean',
  pastDueSince: 'past_due_since timestamptz',
  endedAt: 'ended_at timestamptz',
} as const;
const REPORTED = recordColumns<SeatOrder>(ORDER);
const COLUMNS = recordColumns<StoredOrder>({
  ...ORDER,
  wantedQuantity: 'wanted_quantity integer',
  changes: 'changes integer',
  appliedChanges: 'applied_changes integer',
  isCancelledByDeletion: 'is_cancelled_by_deletion boolean',
  isFollowed: 'is_followed boolean',
});
const SEAT = recordColumns<Seat>({
  subscriptionId: 'subscription_id text',
  orderId: 'order_id text',
  organizationId: 'organization_id text',
  userId: 'svc_user_id text',
  membershipId: 'membership_id text',
  orderTicket: 'order_ticket bigint',
});

/** Locks the seats of an organization until the transaction ends. Every change of its orders and seats does this first. */
export const lockSeats = async (trx: Knex.Transaction, organizationId: string): Promise<void> => {
  await trx.raw("SELECT pg_advisory_xact_lock(hashtextextended('seats ' || ?, 0))", [organizationId]);
};

const selectOrders = (database: Knex) =>
  database('seat_orders').select<StoredOrder[]>(database.raw(COLUMNS.select('seat_orders')));

export const findOrder = async (database: Knex, id: string): Promise<StoredOrder | undefined> =>
  await selectOrders(database).where({ id }).first();

export const findOrderByProvider = async (
  database: Knex,
  providerSubscriptionId: string,
): Promise<StoredOrder | undefined> =>
  await selectOrders(database).where({ provider_subscription_id: providerSubscriptionId }).first();

/** Finds the live order of a plan. The database allows only one. */
export const findLiveOrder = async (
  database: Knex,
  { organizationId, planId }: { readonly organizationId: string; readonly planId: string },
): Promise<StoredOrder | undefined> =>
  await selectOrders(database).where({ svc_user_id: organizationId, plan_id: planId, ended_at: null }).first();

/** Lists the live orders of an organization. */
export const listLiveOrdersOf = async (database: Knex, organizationId: string): Promise<StoredOrder[]> =>
  await selectOrders(database).where({ svc_user_id: organizationId, ended_at: null }).orderBy('plan_id');

/** Lists all live orders by their id at Stripe, which `after` precedes. */
export const listLiveOrders = async (
  database: Knex,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> =>
  await database('seat_orders')
    .where({ ended_at: null })
    .where('provider_subscription_id', '>', after)
    .orderBy('provider_subscription_id')
    .limit(limit)
    .pluck('provider_subscription_id');

/** Lists live orders whose period has ended and that have not been updated for an hour, but for those that wait. */
export const listSilentOrders = async (database: Knex, limit: number): Promise<string[]> =>
  await whereDue(
    database('seat_orders')
      .where({ ended_at: null })
      .whereRaw(
        "current_period_end < (SELECT billing_now()) - interval '1 hour' AND updated_at < (SELECT billing_now()) - interval '1 hour'",
      ),
    'subscriptions',
    'seat_orders.provider_subscription_id',
  )
    .orderBy('updated_at')
    .limit(limit)
    .pluck('provider_subscription_id');

/** Lists orders whose quantity Stripe does not have yet, and those that seats do not follow, but for those that wait. */
export const listWaitingOrders = async (database: Knex, limit: number): Promise<string[]> =>
  await whereDue(
    database('seat_orders').whereRaw('(applied_changes < changes OR NOT is_followed)'),
    'seats',
    'seat_orders.id',
  )
    .orderBy('updated_at')
    .limit(limit)
    .pluck('id');

/** Inserts an order, or updates it as reported. The quantity that is asked for stays while Stripe does not have it. */
export const upsertOrder = async (trx: Knex.Transaction, order: SeatOrder): Promise<void> => {
  const now = trx.raw('billing_now()');
  const { id, svc_user_id, provider_subscription_id, ...changing } = REPORTED.toRow(order);
  await trx('seat_orders')
    .insert({ ...REPORTED.toRow(order), wanted_quantity: order.quantity, created_at: now, updated_at: now })
    .onConflict('id')
    .merge({
      ...changing,
      wanted_quantity: trx.raw(
        'CASE WHEN seat_orders.applied_changes = seat_orders.changes THEN excluded.quantity ELSE seat_orders.wanted_quantity END',
      ),
      is_followed: false,
      updated_at: now,
    });
};

/** Records that all seats follow the order. */
export const updateFollowed = async (trx: Knex.Transaction, id: string): Promise<void> => {
  await trx('seat_orders').where({ id }).update({ is_followed: true });
};

/** Stores the quantity that an organization asks for, before Stripe is asked. */
export const updateWantedQuantity = async (trx: Knex.Transaction, id: string, quantity: number): Promise<void> => {
  await trx('seat_orders')
    .where({ id })
    .update({
      wanted_quantity: quantity,
      changes: trx.raw('changes + 1'),
      updated_at: trx.raw('billing_now()'),
    });
};

/** Records that Stripe has all changes up to this one. Returns false if another was asked for since. */
export const updateAppliedChanges = async (database: Knex, id: string, changes: number): Promise<boolean> =>
  (await database('seat_orders').where({ id, changes }).update({ applied_changes: changes })) > 0;

/** Gives up a change that Stripe refused, unless another was asked for since. */
export const withdrawChange = async (database: Knex, id: string, changes: number): Promise<void> => {
  await database('seat_orders')
    .where({ id, changes })
    .update({ applied_changes: changes, wanted_quantity: database.raw('quantity') });
};

/** Remembers that an order was cancelled because of a deletion, or forgets it once it is resumed. */
export const updateCancelledByDeletion = async (database: Knex, id: string, isCancelled: boolean): Promise<void> => {
  await database('seat_orders').where({ id }).update({ is_cancelled_by_deletion: isCancelled });
};

const selectSeats = (database: Knex) =>
  database('seats')
    .select<Seat[]>(database.raw(SEAT.select('seats')))
    .where({ 'seats.ended_at': null });

/** Lists seats that do not follow this state of their order yet, the newest first. */
export const listUnfollowedSeats = async (
  database: Knex,
  { id, providerTicket }: Pick<SeatOrder, 'id' | 'providerTicket'>,
  limit: number,
): Promise<Seat[]> =>
  await selectSeats(database)
    .where({ order_id: id })
    .where('order_ticket', '<', providerTicket)
    .orderBy([
      { column: 'assigned_at', order: 'desc' },
      { column: 'subscription_id', order: 'desc' },
    ])
    .limit(limit);

/** Finds the seat that a member of an organization has. */
export const findSeat = async (
  database: Knex,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<Seat | undefined> =>
  await selectSeats(database).where({ organization_id: organizationId, svc_user_id: userId }).first();

/** Finds the seat that belongs to a membership. */
export const findSeatOfMembership = async (
  database: Knex,
  { organizationId, membershipId }: { readonly organizationId: string; readonly membershipId: string },
): Promise<Seat | undefined> =>
  await selectSeats(database).where({ organization_id: organizationId, membership_id: membershipId }).first();

/** Counts the seats of an order that members have. */
export const countSeats = async (database: Knex, orderId: string): Promise<number> => {
  const row = await database('seats')
    .where({ order_id: orderId, ended_at: null })
    .first(database.raw('count(*)::int AS count'));
  return row?.count ?? 0;
};

/** Lists the members who have seats of an organization, with their plans. */
export const listHolders = async (
  database: Knex,
  organizationId: string,
): Promise<{ svc_user_id: string; plan_id: string }[]> =>
  await database('seats')
    .join('seat_orders', 'seat_orders.id', 'seats.order_id')
    .where({ 'seats.organization_id': organizationId, 'seats.ended_at': null })
    .orderBy('seats.svc_user_id')
    .select('seats.svc_user_id', 'seat_orders.plan_id');

export const insertSeat = async (trx: Knex.Transaction, seat: Seat): Promise<void> => {
  await trx('seats').insert({ ...SEAT.toRow(seat), assigned_at: trx.raw('billing_now()') });
};

/** Moves a seat to another order. */
export const updateSeatOrder = async (
  trx: Knex.Transaction,
  subscriptionId: string,
  { id, providerTicket }: Pick<SeatOrder, 'id' | 'providerTicket'>,
): Promise<void> => {
  await trx('seats')
    .where({ subscription_id: subscriptionId })
    .update({ order_id: id, order_ticket: providerTicket, assigned_at: trx.raw('billing_now()') });
};

/** Records the state of the order that a seat follows. */
export const updateSeatFollowed = async (
  trx: Knex.Transaction,
  subscriptionId: string,
  orderTicket: number,
): Promise<void> => {
  await trx('seats').where({ subscription_id: subscriptionId }).update({ order_ticket: orderTicket });
};

export const updateSeatEnded = async (trx: Knex.Transaction, subscriptionId: string): Promise<void> => {
  await trx('seats')
    .where({ subscription_id: subscriptionId })
    .update({ ended_at: trx.raw('billing_now()') });
};

/** Remembers that a membership has ended. */
export const insertEndedMembership = async (
  trx: Knex.Transaction,
  { organizationId, membershipId }: { readonly organizationId: string; readonly membershipId: string },
): Promise<void> => {
  await trx('ended_memberships')
    .insert({ membership_id: membershipId, organization_id: organizationId, ended_at: trx.raw('billing_now()') })
    .onConflict('membership_id')
    .ignore();
};

export const hasMembershipEnded = async (trx: Knex.Transaction, membershipId: string): Promise<boolean> =>
  (await trx('ended_memberships').where({ membership_id: membershipId }).first('membership_id')) !== undefined;
