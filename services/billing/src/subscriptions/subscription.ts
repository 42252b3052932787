import { endedStatusSchema, type SubscriptionStatus } from '@svc/contracts';

/** A subscription's state as a payment provider tells it. */
export interface ProviderSubscription {
  readonly providerSubscriptionId: string;
  readonly userId: string;
  readonly planId: string;
  readonly status: SubscriptionStatus;
  /** From where windows are counted: the provider's billing anchor. */
  readonly anchor: Date;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  /** When it ended, where the provider says so. */
  readonly endedAt: Date | null;
}

/** The payment providers. */
export type ProviderName = 'sandbox' | 'stripe';

/** A subscription as billing knows it. */
export interface StoredSubscription {
  readonly id: string;
  readonly userId: string;
  readonly provider: ProviderName;
  readonly providerSubscriptionId: string;
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

/** A state that ends a subscription. */
export type EndedStatus = (typeof endedStatusSchema.options)[number];

/** Whether a subscription in this state has ended; every other one is live, and an account has one live subscription. */
export const isEnded = (status: SubscriptionStatus): status is EndedStatus =>
  endedStatusSchema.safeParse(status).success;

/** Whether a receiver of snapshots can see a difference between what is stored and what the provider says. */
export const isVisibleChange = (stored: StoredSubscription, told: ProviderSubscription): boolean =>
  stored.status !== told.status ||
  stored.planId !== told.planId ||
  stored.periodStart.getTime() !== told.periodStart.getTime() ||
  stored.periodEnd.getTime() !== told.periodEnd.getTime() ||
  stored.cancelAtPeriodEnd !== told.cancelAtPeriodEnd;
