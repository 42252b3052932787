import type { SubscriptionStatus } from '@svc/contracts';
import type { StoredSubscription } from '../subscriptions/index.ts';

/** Seats of one plan that an organization pays: a subscription with a quantity, as Stripe last reported it. */
export interface SeatOrder {
  readonly id: string;
  readonly organizationId: string;
  readonly providerSubscriptionId: string;
  readonly providerTicket: number;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  readonly quantity: number;
  readonly anchor: Date;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  readonly pastDueSince: Date | null;
  readonly endedAt: Date | null;
}

/** A stored order, with what the organization has asked for last. */
export interface StoredOrder extends SeatOrder {
  readonly wantedQuantity: number;
  /** Changes of the quantity that were asked for, and those that Stripe has. */
  readonly changes: number;
  readonly appliedChanges: number;
  /** Cancelled because the organization is to be deleted. */
  readonly isCancelledByDeletion: boolean;
  /** True if all seats follow its latest state. */
  readonly isFollowed: boolean;
}

/** A seat that a member has. */
export interface Seat {
  /** The member's subscription. */
  readonly subscriptionId: string;
  readonly orderId: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly membershipId: string;
  /** Ticket of the order's state that the seat follows. */
  readonly orderTicket: number;
}

/** Returns the number of seats that members can have. A reduction that Stripe does not have yet counts. */
export const assignableSeats = ({ quantity, wantedQuantity }: StoredOrder): number =>
  Math.min(quantity, wantedQuantity);

/** Returns the subscription of a member as the order has it. With an end, the seat is over. */
export const toSubscription = (
  order: SeatOrder,
  { id, userId }: { readonly id: string; readonly userId: string },
  end?: { readonly status: SubscriptionStatus; readonly at: Date },
): Omit<StoredSubscription, 'revision'> => ({
  id,
  userId,
  providerSubscriptionId: null,
  paidBy: order.organizationId,
  providerTicket: order.providerTicket,
  status: end?.status ?? order.status,
  planId: order.planId,
  anchor: order.anchor,
  periodStart: order.periodStart,
  periodEnd: order.periodEnd,
  cancelAtPeriodEnd: order.cancelAtPeriodEnd,
  pastDueSince: end === undefined ? order.pastDueSince : null,
  endedAt: end?.at ?? null,
});
