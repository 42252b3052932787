import { HOLDER_ESTIMATES_MAX, type HolderRenewal } from '@svc/contracts';
import { type Logger, runPeriodically, UnorderedSet } from '@svc/service-kit';
import type { BillingClient } from '../billing-client.ts';

/** An API-key request in flight. */
export interface FollowedRequest {
  readonly requestId: string;
  /** Returns the cost so far. */
  readonly estimateMicros: () => number;
}

/** Holder of the reservations of this process. */
export interface Holder {
  readonly id: string;
  /** Reports the cost of a request with each renewal, if it has changed. Returns a function that stops reporting. */
  readonly follow: (request: FollowedRequest) => () => void;
  /** Stops renewing. Ends the lease if the process is idle; otherwise it expires and billing ends the reservations. */
  readonly stop: () => Promise<void>;
}

export interface HolderOptions {
  readonly id: string;
  readonly billing: Pick<BillingClient, 'renewHolder' | 'endHolder'>;
  /** Returns true if this process has no request in flight and no queued record. */
  readonly isIdle: () => boolean;
  readonly logger: Logger;
  readonly intervalMs?: number;
}

/** Leaves time for two retries before a lease of ten seconds expires. */
const RENEWAL_INTERVAL_MS = 3_000;

type Estimate = HolderRenewal['in_flight'][number];

interface Followed extends FollowedRequest {
  /** Cost last reported to billing. */
  reportedMicros: number;
}

/**
 * Starts renewing the lease of this process. After an outage it continues with the same id: usage records still settle
 * the reservations that billing made uncertain in the meantime, and other reservations stay open.
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
        logger.warn({ err: error }, 'could not end the lease of this process; it will expire');
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
