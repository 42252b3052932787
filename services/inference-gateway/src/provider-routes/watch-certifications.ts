import { type Logger, type Metrics, runPeriodically } from '@svc/service-kit';
import type { RouteTable } from './route-table.ts';

/** Shorter than the interval of most scrapes. */
const CHECK_INTERVAL_MS = 10_000;

interface CertificationWatchOptions {
  readonly metrics: Metrics;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly logger: Logger;
}

/** Reports the certifications of the routes in force. */
interface CertificationWatch {
  /** Reports those of a routes file that was just loaded, and from then on periodically. */
  readonly follow: (table: RouteTable) => void;
  readonly stop: () => Promise<void>;
}

/**
 * Creates a watch. It reports the seconds until each certification expires as a metric, for an alert ahead, and logs an error
 * once a route is out because its certification has expired.
 */
export const watchCertifications = ({ metrics, clock, logger }: CertificationWatchOptions): CertificationWatch => {
  const secondsLeft = metrics.gauge({
    name: 'route_certification_expires_seconds',
    help: 'Seconds until the certification of an active route expires, which takes the route out. Negative afterwards.',
    labelNames: ['route'],
  });
  let certifications: RouteTable['certifications'] = [];
  let expired: ReadonlySet<string> = new Set();

  const check = (): void => {
    const nowMs = clock();
    const out = new Set<string>();
    secondsLeft.reset();
    for (const { routeId, untilMs } of certifications) {
      secondsLeft.set({ route: routeId }, Math.round((untilMs - nowMs) / 1000));
      if (nowMs < untilMs) continue;
      out.add(routeId);
      if (expired.has(routeId)) continue;
      const fields = { upstream_route: routeId, expired_at: new Date(untilMs).toISOString() };
      logger.error(fields, 'the certification has expired: the route is out');
    }
    expired = out;
  };
  const checking = runPeriodically({
    name: 'certifications of routes',
    intervalMs: CHECK_INTERVAL_MS,
    run: async () => check(),
    logger,
  });
  return {
    follow: (table) => {
      ({ certifications } = table);
      check();
    },
    stop: checking.stop,
  };
};
