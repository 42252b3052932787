/** Bounds of what one route is sent. */
export interface RouteGateLimits {
  /** Requests that one route may have under way at once. */
  readonly inFlightMax: number;
  /** Certain failures in a row after which a route is paused. */
  readonly failuresMax: number;
  /** Milliseconds of a pause; the first request after it is a probe, and the others wait for what it shows. */
  readonly pauseMs: number;
}

/** What a request has shown of its route; `unknown` where nobody can say whether it was served. */
export type RouteVerdict = 'served' | 'failed' | 'unknown';

/** Why a route is sent nothing now, and when to ask again. */
export interface HeldBack {
  readonly reason: 'full' | 'paused';
  readonly retryAfterMs: number;
}

/** The right to send one request. Each method counts once. */
export interface RoutePermit {
  /** Tells the verdict, as soon as it is known. */
  readonly judge: (verdict: RouteVerdict, nowMs: number) => void;
  /** Gives the place back, when the exchange is over. */
  readonly leave: () => void;
}

/** A circuit breaker and a concurrency limit. */
export interface RouteGate {
  /** Takes a place, if there is one. */
  readonly enter: (nowMs: number) => RoutePermit | HeldBack;
  /** Why nothing would be let in now; takes no place. */
  readonly heldBack: (nowMs: number) => HeldBack | undefined;
  readonly inFlight: () => number;
  readonly isPaused: () => boolean;
  /** Whether it knows nothing that a new gate does not. */
  readonly isIdle: () => boolean;
}

/** Nobody knows when a place gets free; a second is the least that Retry-After can say. */
const PLACE_RETRY_MS = 1_000;

/** Creates the gate of one route, open. `onPause` is told of each pause. */
export const createRouteGate = (limits: RouteGateLimits, onPause: () => void = () => {}): RouteGate => {
  let inFlight = 0;
  let failures = 0;
  let pausedUntilMs: number | undefined;

  const heldBack = (nowMs: number): HeldBack | undefined => {
    if (pausedUntilMs !== undefined && nowMs < pausedUntilMs) {
      return { reason: 'paused', retryAfterMs: pausedUntilMs - nowMs };
    }
    return inFlight < limits.inFlightMax ? undefined : { reason: 'full', retryAfterMs: PLACE_RETRY_MS };
  };
  const pause = (nowMs: number): void => {
    pausedUntilMs = nowMs + limits.pauseMs;
    onPause();
  };
  const judge = (verdict: RouteVerdict, nowMs: number, isProbe: boolean): void => {
    // Requests from before a pause say nothing about now.
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
      // A probe that takes long, such as a slow upload, is followed by another one after the length of a pause.
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
