import { createLogger, createMetrics } from '@svc/service-kit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRouteTable, type RouteTable } from './route-table.ts';
import { watchCertifications } from './watch-certifications.ts';

const DAY_MS = 86_400_000;
const empty = createRouteTable({ routes: [], configuredModels: [], delegatedChat: [], delegatedTranscription: [] });
const tableOf = (untilMs: Readonly<Record<string, number>>): RouteTable => ({
  ...empty,
  certifications: Object.entries(untilMs).map(([routeId, until]) => ({ routeId, untilMs: until })),
});

describe('watchCertifications', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  test('logs an error once for each route that is out: at a start, while running and after a reload', async () => {
    const lines: string[] = [];
    const logger = createLogger({
      service: 'test',
      level: 'error',
      destination: { write: (line) => void lines.push(line) },
    });
    const metrics = createMetrics('test', { isOfProcess: false });
    const watch = watchCertifications({ metrics, clock: Date.now, logger });
    const outs = () => lines.map((line) => JSON.parse(line).upstream_route);
    watch.follow(tableOf({ old: -DAY_MS, soon: DAY_MS, later: 30 * DAY_MS }));
    expect(outs()).toEqual(['old']);
    await vi.advanceTimersByTimeAsync(DAY_MS + 60_000);
    expect(outs()).toEqual(['old', 'soon']);
    watch.follow(tableOf({ soon: DAY_MS, other: DAY_MS }));
    expect(outs()).toEqual(['old', 'soon', 'other']);
    await watch.stop();
  });

  test('reports the seconds left of the routes in the file alone', async () => {
    const logger = createLogger({ service: 'test', level: 'silent' });
    const metrics = createMetrics('test', { isOfProcess: false });
    const watch = watchCertifications({ metrics, clock: Date.now, logger });
    const values = async () =>
      (await metrics.render()).body.split('\n').filter((line) => line.startsWith('route_cert'));
    watch.follow(tableOf({ a: 60_000, b: -60_000 }));
    expect(await values()).toEqual([
      'route_certification_expires_seconds{route="a",service="test"} 60',
      'route_certification_expires_seconds{route="b",service="test"} -60',
    ]);
    watch.follow(tableOf({ a: 90_000 }));
    expect(await values()).toEqual(['route_certification_expires_seconds{route="a",service="test"} 90']);
    await watch.stop();
  });
});
