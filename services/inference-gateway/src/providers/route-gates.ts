import type { Logger, Metrics } from '@svc/service-kit';
import type { Route } from '../routes/index.ts';
import { UpstreamFailure } from './common-wire/index.ts';
import { createRouteGate, type RouteGate, type RouteGateLimits, type RoutePermit } from './route-gate.ts';

/** The gates of all routes, which outlive reloads of the routes file. */
export interface RouteGates {
  /** Takes a place. Throws UpstreamFailure `held_back` where the route has none. */
  readonly enter: (route: Route) => RoutePermit;
}

/** What the gates work with. */
export interface RouteGatesOptions {
  readonly limits: RouteGateLimits;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Creates the gates. A route keeps its gate as long as its id and the provider's address stay the same. */
export const createRouteGates = (options: RouteGatesOptions): RouteGates => {
  const { limits, clock, logger } = options;
  const gates = new Map<string, RouteGate>();
  const meters = createMeters(options.metrics, gates);

  const openGate = (name: string, route: Route): RouteGate => {
    // Routes that are no longer in the file are forgotten here.
    for (const [other, { isIdle }] of gates) if (isIdle()) gates.delete(other);
    const gate = createRouteGate(limits, () => {
      meters.pauses.inc({ route: route.id });
      logger.warn({ upstream_route: route.id, delay_ms: limits.pauseMs }, 'the route is paused');
    });
    gates.set(name, gate);
    return gate;
  };
  const gateOf = (route: Route): RouteGate => {
    const name = `${route.id} ${route.provider.origin}${route.provider.basePath}`;
    return gates.get(name) ?? openGate(name, route);
  };
  return {
    enter: (route) => {
      const entry = gateOf(route).enter(clock());
      if (!('reason' in entry)) return entry;
      meters.heldBack.inc({ route: route.id, reason: entry.reason });
      throw new UpstreamFailure('held_back', { retryAfter: String(Math.max(1, Math.ceil(entry.retryAfterMs / 1000))) });
    },
  };
};

const createMeters = (metrics: Metrics, gates: ReadonlyMap<string, RouteGate>) => {
  metrics.gauge({
    name: 'upstream_requests_in_flight',
    help: 'Requests under way to providers.',
    read: () => [...gates.values()].reduce((sum, gate) => sum + gate.inFlight(), 0),
  });
  metrics.gauge({
    name: 'upstream_routes_paused',
    help: 'Routes that have failed too often in a row, and are sent nothing or a probe.',
    read: () => [...gates.values()].filter((gate) => gate.isPaused()).length,
  });
  const pauses = metrics.counter({
    name: 'upstream_route_pauses_total',
    help: 'Pauses of a route after certain failures in a row, or after a probe that was not served.',
    labelNames: ['route'],
  });
  const heldBack = metrics.counter({
    name: 'upstream_requests_held_back_total',
    help: 'Attempts that a route was not sent, because it is paused or has too many requests under way.',
    labelNames: ['route', 'reason'],
  });
  return { pauses, heldBack };
};
