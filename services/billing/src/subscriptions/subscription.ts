import { endedStatusSchema, type SubscriptionStatus } from '@svc/contracts';

/** State of a subscription as reported by Stripe. */
export interface ProviderSubscription {
  readonly providerSubscriptionId: string;
  /** Id that the checkout gave it; null for one that was created at Stripe. */
  readonly givenId: string | null;
  readonly userId: string;
  /** Seats that an organization pays for its members; null for a plan of the account. */
  readonly seats: number | null;
  readonly planId: string;
  readonly status: SubscriptionStatus;
  /** Stripe's billing anchor, from which windows are counted. */
  readonly anchor: Date;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  /** Time of the end, if Stripe reports one. */
  readonly endedAt: Date | null;
}

/** A subscription as stored by billing. */
export interface StoredSubscription {
  readonly id: string;
  readonly userId: string;
  /** Null for a seat. */
  readonly providerSubscriptionId: string | null;
  /** Organization whose seat it is; null for a plan that the account pays. */
  readonly paidBy: string | null;
  readonly providerTicket: number;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  readonly anchor: Date;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  readonly pastDueSince: Date | null;
  readonly endedAt: Date | null;
  readonly revision: number;
}

/** A subscription that the account itself pays at Stripe. */
export interface PaidSubscription extends StoredSubscription {
  readonly providerSubscriptionId: string;
}

/** Returns true unless the subscription is a seat that an organization pays. */
export const isPaidByOwner = (subscription: StoredSubscription): subscription is PaidSubscription =>
  subscription.providerSubscriptionId !== null;

/** States in which the present period is paid, or free. */
export const PAID: ReadonlySet<SubscriptionStatus> = new Set(['active', 'trialing']);

export type EndedStatus = (typeof endedStatusSchema.options)[number];

/**
 * Returns true if the status ends a subscription. In any other status it is live, and an account has one live
 * subscription.
 */
export const isEnded = (status: SubscriptionStatus): status is EndedStatus =>
  endedStatusSchema.safeParse(status).success;

/** Returns the end of a stored subscription that Stripe does not know any more. */
export const toGoneState = (stored: PaidSubscription): ProviderSubscription => ({
  providerSubscriptionId: stored.providerSubscriptionId,
  givenId: stored.id,
  userId: stored.userId,
  seats: null,
  planId: stored.planId,
  status: 'canceled',
  anchor: stored.anchor,
  periodStart: stored.periodStart,
  periodEnd: stored.periodEnd,
  cancelAtPeriodEnd: stored.cancelAtPeriodEnd,
  endedAt: null,
});

type VisibleState = Pick<StoredSubscription, 'status' | 'planId' | 'periodStart' | 'periodEnd' | 'cancelAtPeriodEnd'>;

/** Returns true if a receiver of snapshots can see a difference between the stored and the reported state. */
export const isVisibleChange = (stored: VisibleState, reported: VisibleState): boolean =>
  stored.status !== reported.status ||
  stored.planId !== reported.planId ||
  stored.periodStart.getTime() !== reported.periodStart.getTime() ||
  stored.periodEnd.getTime() !== reported.periodEnd.getTime() ||
  stored.cancelAtPeriodEnd !== reported.cancelAtPeriodEnd;
