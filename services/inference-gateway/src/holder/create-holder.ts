import { HOLDER_ESTIMATES_MAX, type HolderRenewal } from '@svc/contracts';
import { type Logger, runPeriodically, UnorderedSet } from '@svc/service-kit';
import type { BillingClient } from '../billing-client.ts';

/** An API-key request under way. */
export interface FollowedRequest {
  readonly requestId: string;
  /** What it has cost so far. */
  readonly estimateMicros: () => number;
}

/** This process as the holder of its reservations. */
export interface Holder {
  readonly id: string;
  /** Reports with each renewal what a request has cost, if that has changed. Returns the function that ends this. */
  readonly follow: (request: FollowedRequest) => () => void;
  /** Stops renewing. Ends the lease if nothing is under way; otherwise billing lets it expire and ends what is left. */
  readonly stop: () => Promise<void>;
}

export interface HolderOptions {
  readonly id: string;
  readonly billing: Pick<BillingClient, 'renewHolder' | 'endHolder'>;
  /** Whether this process has no request and no record under way. */
  readonly isIdle: () => boolean;
  readonly logger: Logger;
  readonly intervalMs?: number;
}

/** Leaves time for two more tries before a lease of ten seconds expires. */
const RENEWAL_INTERVAL_MS = 3_000;

type Estimate = HolderRenewal['in_flight'][number];

interface Followed extends FollowedRequest {
  /** As billing knows it. */
  reportedMicros: number;
}

/**
 * Starts to renew the lease of this process. One that could not renew for a while goes on under the same id: what billing made
 * uncertain meanwhile is settled by its usage as ever, and what it did not get to goes on.
 */
export const createHolder = ({ id, billing, isIdle, logger, intervalMs }: HolderOptions): Holder => {
  const requests = new UnorderedSet<Followed>();
  const renew = async (): Promise<void> => {
    const changed = changedEstimates(requests);
    do {
      const page = changed.splice(0, HOLDER_ESTIMATES_MAX);
      await billing.renewHolder(id, { in_flight: page.map(({ estimate }) => estimate) });
      for (const { request, estimate } of page) request.reportedMicros = estimate.estimate_micros;
    } while (changed.length > 0);
  };
  const renewing = runPeriodically({
    name: 'holder',
    intervalMs: intervalMs ?? RENEWAL_INTERVAL_MS,
    run: renew,
    logger,
  });
  return {
    id,
    // Billing knows the first estimate from the admission.
    follow: (request) => requests.add({ ...request, reportedMicros: request.estimateMicros() }),
    stop: async () => {
      await renewing.stop();
      if (!isIdle()) return;
      await billing.endHolder(id).catch((error: unknown) => {
        logger.warn({ err: error }, 'the lease of this process was not ended and will expire');
      });
    },
  };
};

const changedEstimates = (
  requests: Iterable<Followed>,
): { readonly request: Followed; readonly estimate: Estimate }[] => {
  const changed = [];
  for (const request of requests) {
    const estimateMicros = request.estimateMicros();
    if (estimateMicros === request.reportedMicros) continue;
    changed.push({ request, estimate: { request_id: request.requestId, estimate_micros: estimateMicros } });
  }
  return changed;
};
