/** The part of the service's metrics that this package uses. The registry creates a metric once per name. */
export interface MessagingMetrics {
  readonly counter: (options: MetricDefinition) => { inc: (labels: Record<string, string>, value?: number) => void };
  readonly gauge: (options: MetricDefinition & { read?: () => number }) => {
    set: (labels: Record<string, string>, value: number) => void;
  };
}

interface MetricDefinition {
  name: string;
  help: string;
  labelNames: readonly string[];
}

export interface MessagingMeters {
  readonly outboxBacklog: (count: number, oldestAgeSeconds: number) => void;
  readonly outboxPublished: (stream: string, count: number) => void;
  readonly outboxRepublished: (stream: string, count: number) => void;
  readonly epochsRecent: (count: number) => void;
  readonly relayLeading: (leading: boolean) => void;
  readonly streamFill: (stream: string, bytes: number, bytesMax: number) => void;
  readonly consumed: (consumer: string, outcome: ConsumedOutcome, count?: number) => void;
  readonly factsDropped: (consumer: string, count: number) => void;
  readonly waiting: (consumer: string, count: number) => void;
  readonly paused: (consumer: string, requirement: string, isPaused: boolean) => void;
  readonly deadLetters: (consumer: string, count: number) => void;
  /** Reads at each scrape whether new revocations arrive. */
  readonly revocationsConnected: (read: () => boolean) => void;
  readonly revocationsUnchecked: (count: number) => void;
  readonly revocationsKept: (count: number) => void;
}

/** Outcome of a delivery. */
export type ConsumedOutcome = 'handled' | 'duplicate' | 'stale' | 'retried' | 'dead_lettered';

/** Registers the metrics of this package. Without a registry they are discarded. */
export const createMeters = (metrics: MessagingMetrics | undefined): MessagingMeters => {
  const gauge = (name: string, help: string) => {
    const made = metrics?.gauge({ name, help, labelNames: [] });
    return (value: number) => made?.set({}, value);
  };
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    metrics?.counter({ name, help, labelNames });
  const unpublished = gauge('outbox_unpublished', 'Outbox rows that the broker has not acknowledged.');
  const oldest = gauge('outbox_oldest_unpublished_seconds', 'Age of the oldest outbox row not yet acknowledged.');
  const epochs = gauge('outbox_epochs_recent', 'Epochs begun in the last 24 hours, each after a restore.');
  const leading = gauge('outbox_relay_leading', '1 while this process relays the outbox of its service.');
  const perStream = (name: string, help: string) => {
    const made = metrics?.gauge({ name, help, labelNames: ['stream'] });
    return (stream: string, value: number) => made?.set({ stream }, value);
  };
  const streamBytes = perStream('stream_bytes', 'Bytes in the stream, as its publisher sees it.');
  const streamBytesMax = perStream('stream_bytes_max', 'Bytes at which the stream refuses messages.');
  const kept = gauge('revocations_kept', 'Revocations in memory.');
  const unchecked = counter(
    'revocations_unchecked_total',
    'Uses of credentials accepted by what the service knew, while neither NATS nor the source answered.',
    [],
  );
  const published = counter('outbox_published_total', 'Outbox rows acknowledged by the broker.', ['stream']);
  const again = counter('outbox_republished_total', 'Outbox rows published again because the stream had lost them.', [
    'stream',
  ]);
  const consumed = counter('messages_consumed_total', 'Delivered messages by outcome.', ['consumer', 'outcome']);
  const paused = metrics?.gauge({
    name: 'consumer_paused',
    help: '1 while the consumer fetches nothing because its database, or a service that it asks, is down.',
    labelNames: ['consumer', 'requirement'],
  });
  const dropped = counter('facts_dropped_total', 'Facts dropped because the consumer knows newer ones.', ['consumer']);
  const perConsumer = (name: string, help: string) => {
    const made = metrics?.gauge({ name, help, labelNames: ['consumer'] });
    return (consumer: string, value: number) => made?.set({ consumer }, value);
  };
  return {
    waiting: perConsumer('messages_waiting', 'Messages that the consumer has not settled, in the whole service.'),
    deadLetters: perConsumer('dead_letters_unresolved', 'Unresolved dead letters, in the whole service.'),
    outboxBacklog(count, oldestAgeSeconds) {
      unpublished(count);
      oldest(oldestAgeSeconds);
    },
    outboxPublished: (stream, count) => published?.inc({ stream }, count),
    outboxRepublished: (stream, count) => again?.inc({ stream }, count),
    epochsRecent: epochs,
    relayLeading: (value) => leading(value ? 1 : 0),
    paused: (consumer, requirement, isPaused) => paused?.set({ consumer, requirement }, isPaused ? 1 : 0),
    streamFill(stream, bytes, bytesMax) {
      streamBytes(stream, bytes);
      streamBytesMax(stream, bytesMax);
    },
    consumed: (consumer, outcome, count = 1) => consumed?.inc({ consumer, outcome }, count),
    factsDropped: (consumer, count) => dropped?.inc({ consumer }, count),
    revocationsConnected(read) {
      const help = '1 while new revocations arrive; 0 while the service asks their source about each credential.';
      metrics?.gauge({ name: 'revocations_connected', help, labelNames: [], read: () => (read() ? 1 : 0) });
    },
    revocationsUnchecked: (count) => unchecked?.inc({}, count),
    revocationsKept: kept,
  };
};
