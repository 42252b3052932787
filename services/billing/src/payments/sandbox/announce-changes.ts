import type { Knex } from 'knex';
import type { SettledCheckout } from '../index.ts';
import {
  findSubscription,
  listUnannouncedSessions,
  listUnannouncedSubscriptions,
  markSessionAnnounced,
  markSubscriptionAnnounced,
} from './queries.ts';

/** How the sandbox tells billing that something has changed; billing then asks for the latest state. */
export interface SandboxListener {
  sessionPaid(sessionId: string): Promise<SettledCheckout>;
  subscriptionChanged(subscriptionId: string): Promise<void>;
}

/** What everything that changes the sandbox needs. */
export interface SandboxDeps {
  readonly database: Knex;
  readonly listener: SandboxListener;
  readonly newSubscriptionId: () => string;
}

const BATCH = 100;

/** Tells billing of a paid session at once, and notes that it was told. */
export const announceSession = async ({ database, listener }: SandboxDeps, id: string): Promise<SettledCheckout> => {
  const settled = await listener.sessionPaid(id);
  await markSessionAnnounced(database, id);
  return settled;
};

/** Tells billing of a changed subscription at once, and notes that it was told. */
export const announceSubscription = async ({ database, listener }: SandboxDeps, id: string): Promise<void> => {
  const told = await findSubscription(database, id);
  if (told === undefined) return;
  await listener.subscriptionChanged(id);
  await markSubscriptionAnnounced(database, told);
};

/** Tells of what could not be told at once, as a payment provider delivers its events again. */
export const announceChanges = async (deps: SandboxDeps): Promise<void> => {
  await attemptEach(await listUnannouncedSessions(deps.database, BATCH), (id) => announceSession(deps, id));
  await attemptEach(await listUnannouncedSubscriptions(deps.database, BATCH), (id) => announceSubscription(deps, id));
};

/** Does the work for each, so that one that fails holds nobody else up; throws the first failure in the end. */
export const attemptEach = async (ids: readonly string[], work: (id: string) => Promise<unknown>): Promise<void> => {
  const failures: unknown[] = [];
  for (const id of ids) await work(id).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
};
