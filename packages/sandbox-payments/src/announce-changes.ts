import type { Knex } from 'knex';
import type { PlanOffer } from './plan-offer.ts';
import { listUnannouncedSessions, markSessionAnnounced } from './session-queries.ts';
import { findSubscription, listUnannouncedSubscriptions, markSubscriptionAnnounced } from './subscription-queries.ts';

/** Receives the sandbox's events, like the event endpoint of a real provider. It then asks for the latest state. */
export interface SandboxListener {
  /** Resolves with true if the purchase was reverted, because the account has another live subscription. */
  readonly sessionPaid: (sessionId: string) => Promise<boolean>;
  readonly subscriptionChanged: (subscriptionId: string) => Promise<void>;
}

export interface SandboxDeps {
  readonly database: Knex;
  readonly listener: SandboxListener;
  readonly newId: (prefix: 'sub' | 'inv') => string;
  readonly offer: PlanOffer;
}

const BATCH = 100;

/** Announces a paid session. Returns true if the purchase was reverted. */
export const announceSession = async ({ database, listener }: SandboxDeps, id: string): Promise<boolean> => {
  const isReverted = await listener.sessionPaid(id);
  await markSessionAnnounced(database, id);
  return isReverted;
};

/** Announces a changed subscription. */
export const announceSubscription = async ({ database, listener }: SandboxDeps, id: string): Promise<void> => {
  const announced = await findSubscription(database, id);
  if (announced === undefined) return;
  await listener.subscriptionChanged(id);
  await markSubscriptionAnnounced(database, announced);
};

/** Announces the changes whose first announcement failed, as a payment provider redelivers its events. */
export const announceChanges = async (deps: SandboxDeps): Promise<void> => {
  await attemptEach(await listUnannouncedSessions(deps.database, BATCH), (id) => announceSession(deps, id));
  await attemptEach(await listUnannouncedSubscriptions(deps.database, BATCH), (id) => announceSubscription(deps, id));
};

/** Runs the work for each id, also after a failure. Throws the first failure in the end. */
export const attemptEach = async (ids: readonly string[], work: (id: string) => Promise<unknown>): Promise<void> => {
  const failures: unknown[] = [];
  for (const id of ids) await work(id).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
};
