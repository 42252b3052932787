import type { Logger, Metrics } from '@svc/service-kit';
import type { Route } from '../provider-routes/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';

export interface RouteGateLimits {
  /** Concurrent requests on one route. */
  readonly inFlightMax: number;
  /** Consecutive definite failures that pause a route. */
  readonly failuresMax: number;
  /** Length of a pause. The first request after it is a probe; others are held back until its verdict. */
  readonly pauseMs: number;
}

/** Result of a request for the health of its route; `unknown` if it may have been served. */
export type RouteVerdict = 'served' | 'failed' | 'unknown';

/** Reason why a route accepts no request now, and the time to retry. */
export interface HeldBack {
  readonly reason: 'full' | 'paused';
  readonly retryAfterMs: number;
}

/** Permission to send one request. Each method takes effect once. */
export interface RoutePermit {
  /** Reports the verdict, as soon as it is known. */
  readonly judge: (verdict: RouteVerdict, nowMs: number) => void;
  /** Releases the slot, when the exchange has ended. */
  readonly leave: () => void;
}

/** Circuit breaker and concurrency limit of a route. */
export interface RouteGate {
  /** Takes a slot, if one is free. */
  readonly enter: (nowMs: number) => RoutePermit | HeldBack;
  /** Returns why `enter` would fail now, without taking a slot. */
  readonly heldBack: (nowMs: number) => HeldBack | undefined;
  readonly inFlight: () => number;
  readonly isPaused: () => boolean;
  /** Returns true if the gate has no state to keep. */
  readonly isIdle: () => boolean;
}

/** It is unknown when a slot becomes free. One second is the minimum of Retry-After. */
const SLOT_RETRY_MS = 1_000;

/** Creates an open gate. Calls `onPause` for each pause. */
export const createRouteGate = (limits: RouteGateLimits, onPause: () => void = () => {}): RouteGate => {
  let inFlight = 0;
  let failures = 0;
  let pausedUntilMs: number | undefined;

  const heldBack = (nowMs: number): HeldBack | undefined => {
    if (pausedUntilMs !== undefined && nowMs < pausedUntilMs) {
      return { reason: 'paused', retryAfterMs: pausedUntilMs - nowMs };
    }
    return inFlight < limits.inFlightMax ? undefined : { reason: 'full', retryAfterMs: SLOT_RETRY_MS };
  };
  const pause = (nowMs: number): void => {
    pausedUntilMs = nowMs + limits.pauseMs;
    onPause();
  };
  const judge = (verdict: RouteVerdict, nowMs: number, isProbe: boolean): void => {
    // Requests from before the pause are no evidence of the current state.
    if (pausedUntilMs !== undefined && !isProbe) return;
    if (verdict === 'served') {
      pausedUntilMs = undefined;
      failures = 0;
    } else if (pausedUntilMs !== undefined) {
      pause(nowMs);
    } else if (verdict === 'failed') {
      failures += 1;
      if (failures >= limits.failuresMax) pause(nowMs);
    }
  };
  return {
    heldBack,
    enter: (nowMs) => {
      const refusal = heldBack(nowMs);
      if (refusal !== undefined) return refusal;
      inFlight += 1;
      const isProbe = pausedUntilMs !== undefined;
      // If a probe takes longer than a pause, as a slow upload may, another one follows.
      if (isProbe) pausedUntilMs = nowMs + limits.pauseMs;
      return {
        judge: once((verdict: RouteVerdict, atMs: number) => judge(verdict, atMs, isProbe)),
        leave: once(() => {
          inFlight -= 1;
        }),
      };
    },
    inFlight: () => inFlight,
    isPaused: () => pausedUntilMs !== undefined,
    isIdle: () => inFlight === 0 && failures === 0 && pausedUntilMs === undefined,
  };
};

const once = <A extends unknown[]>(act: (...args: A) => void): ((...args: A) => void) => {
  let isDone = false;
  return (...args) => {
    if (isDone) return;
    isDone = true;
    act(...args);
  };
};

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
