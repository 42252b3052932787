import type { Metrics } from '@svc/service-kit';

/**
 * Outcome of a request to the provider. `refused`: the request is invalid. `unauthorized`: our key is. `overloaded`: 409 or
 * 429. `failed`: 5xx. `unreachable`: no response.
 */
type Outcome = 'ok' | 'refused' | 'unauthorized' | 'overloaded' | 'failed' | 'unreachable';

/** Metrics of the payment provider. */
export interface ProviderMeters {
  /** `status` is undefined without a response. */
  readonly requested: (status: number | undefined) => void;
  /** `swept`: Stripe could not deliver it, and the sweep fetched it. */
  readonly eventHandled: (source: EventSource) => void;
  /** A checkout was found paid, so that an event must arrive. */
  readonly checkoutPaid: () => void;
}

type EventSource = 'delivered' | 'swept';

const OUTCOMES: readonly Outcome[] = ['ok', 'refused', 'unauthorized', 'overloaded', 'failed', 'unreachable'];
const SOURCES: readonly EventSource[] = ['delivered', 'swept'];

/** Creates the metrics. Every outcome has a sample from the start, so that an alert sees the first one. */
export const createProviderMeters = (metrics: Metrics): ProviderMeters => {
  const requests = metrics.counter({
    name: 'billing_provider_requests_total',
    help: 'Requests to the payment provider by outcome, repeated ones included.',
    labelNames: ['outcome'],
  });
  const lastSuccess = metrics.gauge({
    name: 'billing_provider_last_success_seconds',
    help: 'Unix time of the last request that the payment provider answered.',
  });
  const events = metrics.counter({
    name: 'billing_provider_events_total',
    help: 'Events of the payment provider that arrived (delivered) or had to be fetched (swept).',
    labelNames: ['source'],
  });
  const lastEvent = metrics.gauge({
    name: 'billing_provider_last_event_seconds',
    help: 'Unix time of the last event that the payment provider delivered.',
  });
  const paid = metrics.counter({
    name: 'billing_paid_checkouts_total',
    help: 'Hosted checkouts that were found paid. The payment provider announces each by an event.',
  });
  for (const outcome of OUTCOMES) requests.inc({ outcome }, 0);
  for (const source of SOURCES) events.inc({ source }, 0);
  return {
    requested: (status) => {
      const outcome = outcomeOf(status);
      requests.inc({ outcome });
      if (outcome === 'ok' || outcome === 'refused') lastSuccess.setToCurrentTime();
    },
    eventHandled: (source) => {
      events.inc({ source });
      if (source === 'delivered') lastEvent.setToCurrentTime();
    },
    checkoutPaid: () => paid.inc(),
  };
};

const outcomeOf = (status: number | undefined): Outcome => {
  if (status === undefined) return 'unreachable';
  if (status >= 500) return 'failed';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 409 || status === 429) return 'overloaded';
  return status >= 400 ? 'refused' : 'ok';
};
