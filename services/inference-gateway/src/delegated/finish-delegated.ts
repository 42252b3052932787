import { type RequestEnd, type RequestIdentity, releasedEnd, toOutcome } from '../usage-records/index.ts';
import type { DelegatedDeps } from './delegated-deps.ts';

/**
 * Ends a request once: its record and fact are queued for the next transaction, and billing is told at once, for a moment's
 * wait at most, so that the usage is counted and the place free when the caller sees the end.
 */
export const finishDelegated = async (
  deps: DelegatedDeps,
  identity: RequestIdentity,
  end: RequestEnd,
): Promise<void> => {
  deps.usage.add({ ...identity, ...end });
  await deps.billing.settle(identity.requestId, toOutcome(end));
};

/** Ends a request that generated nothing for certain (`released`), or perhaps something (`uncertain`). */
export const finishFailed = (
  deps: DelegatedDeps,
  identity: RequestIdentity,
  failed: { readonly isUncertain: boolean; readonly estimateMicros: number; readonly status: number },
): Promise<void> => {
  const released = releasedEnd(failed.status, deps.clock());
  return finishDelegated(
    deps,
    identity,
    failed.isUncertain ? { ...released, outcome: 'uncertain', costMicros: failed.estimateMicros } : released,
  );
};
