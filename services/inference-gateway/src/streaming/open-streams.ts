import type { Metrics } from '@svc/service-kit';

/** Kinds of callers: apps, or holders of API keys. */
export type StreamKind = 'delegated' | 'api_key';

/** Counts the streams that are open. */
export interface OpenStreams {
  /** Counts this one until it has ended. */
  readonly during: <T>(kind: StreamKind, stream: Promise<T>) => Promise<T>;
}

/** Creates the count, as the metric `streams_open`. */
export const createOpenStreams = (metrics: Metrics): OpenStreams => {
  const open = metrics.gauge({
    name: 'streams_open',
    help: 'Streams under way; also those whose caller has left, until the provider has ended them.',
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
