import { describe, expect, test } from 'vitest';
import { createRouteGate, type HeldBack, type RouteGate, type RoutePermit, type RouteVerdict } from './route-gates.ts';

const LIMITS = { inFlightMax: 3, failuresMax: 3, pauseMs: 1_000 };

const isHeldBack = (entry: RoutePermit | HeldBack): entry is HeldBack => 'reason' in entry;
const enter = (gate: RouteGate, nowMs: number): RoutePermit => {
  const entry = gate.enter(nowMs);
  if (isHeldBack(entry)) throw new Error(`held back: ${entry.reason}`);
  return entry;
};
const run = (gate: RouteGate, verdict: RouteVerdict, nowMs: number): void => {
  const permit = enter(gate, nowMs);
  permit.judge(verdict, nowMs);
  permit.leave();
};
const pausedAt = (nowMs: number): RouteGate => {
  const gate = createRouteGate(LIMITS);
  for (let count = 0; count < LIMITS.failuresMax; count += 1) run(gate, 'failed', nowMs);
  return gate;
};

describe('the concurrency limit', () => {
  test('is the number of slots, each released once', () => {
    const gate = createRouteGate(LIMITS);
    const permits = [enter(gate, 0), enter(gate, 0), enter(gate, 0)];
    expect(gate.enter(0)).toEqual({ reason: 'full', retryAfterMs: 1_000 });
    permits[0]?.leave();
    permits[0]?.leave();
    enter(gate, 0);
    expect(gate.heldBack(0)?.reason).toBe('full');
    expect(gate.inFlight()).toBe(3);
  });

  test('keeps the slot after a verdict, as a stream continues after its headers', () => {
    const gate = createRouteGate({ ...LIMITS, inFlightMax: 1 });
    const permit = enter(gate, 0);
    permit.judge('served', 0);
    expect(gate.heldBack(0)?.reason).toBe('full');
    permit.leave();
    expect(gate.isIdle()).toBe(true);
  });
});

describe('the circuit breaker', () => {
  test('pauses after consecutive definite failures, and returns the time left', () => {
    const gate = pausedAt(500);
    expect(gate.enter(700)).toEqual({ reason: 'paused', retryAfterMs: 800 });
    expect(gate.isPaused()).toBe(true);
    expect(gate.isIdle()).toBe(false);
  });

  test('resets the count after a served request, and ignores unknown outcomes', () => {
    const gate = createRouteGate(LIMITS);
    for (const verdict of ['failed', 'failed', 'served', 'failed', 'unknown', 'failed', 'unknown'] as const) {
      run(gate, verdict, 0);
    }
    expect(gate.isPaused()).toBe(false);
    run(gate, 'failed', 0);
    expect(gate.isPaused()).toBe(true);
  });

  test('sends one probe after the pause, and opens the route if it is served', () => {
    const gate = pausedAt(0);
    const probe = enter(gate, 1_000);
    expect(gate.enter(1_001)).toMatchObject({ reason: 'paused' });
    probe.judge('served', 1_002);
    probe.leave();
    expect(gate.heldBack(1_002)).toBeUndefined();
    expect(gate.isIdle()).toBe(true);
  });

  test.each(['failed', 'unknown'] as const)('pauses again after a probe that is %s', (verdict) => {
    const gate = pausedAt(0);
    run(gate, verdict, 1_300);
    expect(gate.heldBack(2_299)).toEqual({ reason: 'paused', retryAfterMs: 1 });
    expect(gate.heldBack(2_300)).toBeUndefined();
  });

  test('sends another probe if the first one never gets a verdict', () => {
    const gate = pausedAt(0);
    enter(gate, 1_000);
    expect(gate.heldBack(1_999)).toBeDefined();
    run(gate, 'served', 2_000);
    expect(gate.isPaused()).toBe(false);
  });

  test('ignores verdicts of requests that were sent before the pause', () => {
    const gate = createRouteGate({ ...LIMITS, failuresMax: 1 });
    const old = enter(gate, 0);
    const older = enter(gate, 0);
    run(gate, 'failed', 100);
    old.judge('served', 200);
    older.judge('failed', 300);
    expect(gate.heldBack(400)).toEqual({ reason: 'paused', retryAfterMs: 700 });
  });

  test('calls onPause once for each pause', () => {
    let pauses = 0;
    const gate = createRouteGate({ ...LIMITS, failuresMax: 1 }, () => {
      pauses += 1;
    });
    run(gate, 'failed', 0);
    run(gate, 'failed', 1_000);
    expect(pauses).toBe(2);
  });
});
