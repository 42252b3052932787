import { AppError, type Metrics } from '@svc/service-kit';
import type { TextMemory } from '../large-json/index.ts';
import type { UsageWriter } from '../usage-records/index.ts';

/** Requests in flight. They continue after their callers have disconnected, and a shutdown waits for them. */
export interface InFlight {
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
  readonly isIdle: () => boolean;
  /** Resolves when no request is left; rejects after `timeoutMs`. */
  readonly idle: (timeoutMs: number) => Promise<void>;
}

/** Creates a counter of requests, each counted until its usage is recorded. */
export const createInFlight = (): InFlight => {
  let count = 0;
  let onIdle: (() => void) | undefined;
  return {
    run: async (work) => {
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
        if (count === 0) onIdle?.();
      }
    },
    isIdle: () => count === 0,
    idle: (timeoutMs) => {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${count} requests did not end in time`)), timeoutMs);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
};

/** Kind of caller: an app or an API key. */
type StreamKind = 'delegated' | 'api_key';

/** Counter of open streams. */
export interface OpenStreams {
  /** Counts a stream until its promise settles. */
  readonly during: <T>(kind: StreamKind, stream: Promise<T>) => Promise<T>;
}

/** Creates a counter that reports the metric `streams_open`. */
export const createOpenStreams = (metrics: Metrics): OpenStreams => {
  const open = metrics.gauge({
    name: 'streams_open',
    help: 'Open streams, including those whose caller has disconnected but whose provider is still sending.',
    labelNames: ['kind'],
  });
  const kinds: readonly StreamKind[] = ['delegated', 'api_key'];
  for (const kind of kinds) open.set({ kind }, 0);
  return {
    during: async (kind, stream) => {
      open.inc({ kind });
      try {
        return await stream;
      } finally {
        open.dec({ kind });
      }
    },
  };
};

interface RoomDeps {
  readonly usage: Pick<UsageWriter, 'hasRoom'>;
  readonly responseMemory: Pick<TextMemory, 'checkRoom'>;
}

/**
 * Throws `service_unavailable` while the queue of usage records is full, or responses of this size queue for memory. Called
 * before a request is admitted: once it is forwarded, its response waits for memory as long as it takes.
 */
export const requireRoom = (
  { usage, responseMemory }: RoomDeps,
  { account, bytesMax }: { readonly account: string; readonly bytesMax: number },
): void => {
  if (!usage.hasRoom()) throw new AppError('service_unavailable', undefined, { headers: { 'retry-after': '2' } });
  responseMemory.checkRoom(account, bytesMax);
};
