import type { Clock } from '@svc/service-kit';
import { MINUTE_MS, SECOND_MS } from '../time.ts';
import { DEVICE_CODE_SECONDS, DEVICE_POLL_SECONDS } from './lifetimes.ts';

/** Tolerated earliness of a poll: networks deliver two of them at uneven speed. */
const JITTER_MS = 500;
/** Devices remembered per process. Beyond this limit the one that has been silent for longest is forgotten. */
const DEVICES_MAX = 100_000;
/** After this time without a poll, the code of a device has expired. */
const SILENCE_MS = DEVICE_CODE_SECONDS * SECOND_MS + MINUTE_MS;

/** Judges the pace of polls in memory, so that a poll writes nothing. Each replica judges the polls that it gets. */
export interface PollPacer {
  /** Records a poll. Returns false if it came too early, which makes the interval longer (RFC 8628 section 3.5). */
  readonly isPaced: (deviceCode: Buffer) => boolean;
}

interface Polled {
  readonly atMs: number;
  readonly intervalMs: number;
}

export const createPollPacer = (clock: Clock, devicesMax: number = DEVICES_MAX): PollPacer => {
  const last = new Map<string, Polled>();
  return {
    isPaced: (deviceCode) => {
      const key = deviceCode.toString('base64');
      const nowMs = clock().getTime();
      // A Map keeps insertion order, so the device that has been silent for longest comes first.
      for (const [silent, { atMs }] of last) {
        if (atMs + SILENCE_MS > nowMs && last.size <= devicesMax) break;
        last.delete(silent);
      }
      const before = last.get(key);
      last.delete(key);
      const intervalMs = before?.intervalMs ?? DEVICE_POLL_SECONDS * SECOND_MS;
      const isPaced = before === undefined || nowMs - before.atMs >= before.intervalMs - JITTER_MS;
      last.set(key, {
        atMs: nowMs,
        intervalMs: isPaced ? intervalMs : intervalMs + DEVICE_POLL_SECONDS * SECOND_MS,
      });
      return isPaced;
    },
  };
};
