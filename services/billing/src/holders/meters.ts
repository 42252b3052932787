import type { Metrics } from '@svc/service-kit';

/** Metrics of holders and their leases. */
export interface HolderMeters {
  readonly alive: (count: number) => void;
  readonly expired: (count: number) => void;
  readonly ended: (count: number) => void;
}

export const createHolderMeters = (metrics: Metrics): HolderMeters => {
  const alive = metrics.gauge({
    name: 'billing_holders_alive',
    help: 'Gateway processes whose leases have not expired.',
  });
  const expired = metrics.counter({
    name: 'billing_holders_expired_total',
    help: 'Gateway processes that stopped renewing their leases.',
  });
  const ended = metrics.counter({
    name: 'billing_held_requests_ended_total',
    help: 'Delegated requests that became uncertain because their gateway process stopped renewing its lease.',
  });
  ended.inc(0);
  expired.inc(0);
  return {
    alive: (count) => alive.set(count),
    expired: (count) => expired.inc(count),
    ended: (count) => ended.inc(count),
  };
};
