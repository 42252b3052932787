import type { Logger, Metrics } from '@svc/service-kit';
import type { Route } from '../routes/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import { createRouteGate, type RouteGate, type RouteGateLimits, type RoutePermit } from './route-gate.ts';

/** Gates of all routes. They survive reloads of the routes file. */
export interface RouteGates {
  /** Takes a slot. Throws UpstreamFailure `held_back` if the route is paused or full. */
  readonly enter: (route: Route) => RoutePermit;
}

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
    // Also deletes the gates of routes that are no longer in the file.
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
    help: 'Requests in flight to providers.',
    read: () => [...gates.values()].reduce((sum, gate) => sum + gate.inFlight(), 0),
  });
  metrics.gauge({
    name: 'upstream_routes_paused',
    help: 'Routes paused after consecutive failures, including those being probed.',
    read: () => [...gates.values()].filter((gate) => gate.isPaused()).length,
  });
  const pauses = metrics.counter({
    name: 'upstream_route_pauses_total',
    help: 'Pauses of a route after consecutive definite failures, or after a failed probe.',
    labelNames: ['route'],
  });
  const heldBack = metrics.counter({
    name: 'upstream_requests_held_back_total',
    help: 'Requests not sent to a route because it was paused or had too many requests in flight.',
    labelNames: ['route', 'reason'],
  });
  return { pauses, heldBack };
};
