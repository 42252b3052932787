import type { Metrics } from '@svc/service-kit';

/** Kind of caller: an app or an API key. */
export type StreamKind = 'delegated' | 'api_key';

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
