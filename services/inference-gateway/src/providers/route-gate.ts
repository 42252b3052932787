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
