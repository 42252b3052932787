import { monitorEventLoopDelay } from 'node:perf_hooks';
import { connectMessaging, openRevocations } from '@svc/messaging';
import { residentMegabytes, watchPeak } from '../harness/resources.ts';

/** Figures of a process that has loaded all entries. */
export interface LoadedView {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Longest time in which the event loop did nothing else. */
  readonly stallMs: number;
  /** Growth of the heap. */
  readonly heapMegabytes: number;
  /** Growth of the resident memory, after a collection and at its peak. */
  readonly residentMegabytes: number;
  readonly peakMegabytes: number;
}

const silent = { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error };
const messaging = await connectMessaging({ url: process.env['NATS_URL'] ?? '', name: 'billing', logger: silent });
globalThis.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
const residentBefore = residentMegabytes(process.pid);
const peak = watchPeak(process.pid);
const stalls = monitorEventLoopDelay({ resolution: 1 });
stalls.enable();
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
const view = await openRevocations(messaging, { sources: [] });
const seconds = (performance.now() - startedAt) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
stalls.disable();
const peakMegabytes = peak.stop() - residentBefore;
globalThis.gc?.();
const loaded: LoadedView = {
  seconds,
  cpuSeconds: (user + system) / 1e6,
  stallMs: stalls.max / 1e6,
  heapMegabytes: (process.memoryUsage().heapUsed - heapBefore) / 1e6,
  residentMegabytes: residentMegabytes(process.pid) - residentBefore,
  peakMegabytes,
};
process.send?.(loaded);
await view.stop();
await messaging.close();
process.disconnect?.();
