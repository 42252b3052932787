import { renewDue } from './advance-subscription.ts';
import { announceChanges, type SandboxDeps } from './announce-changes.ts';

/** Renews due subscriptions and repeats failed announcements. The host calls it periodically. */
export const runSandboxPayments = async (deps: SandboxDeps): Promise<void> => {
  await renewDue(deps);
  await announceChanges(deps);
};
