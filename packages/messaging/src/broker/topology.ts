import { type Durable, durables, REVOCATION_TTL_SECONDS, REVOCATIONS_BUCKET, streams } from '@svc/contracts';
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  type KvOptions,
  nanos,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type StreamConfig,
} from 'nats';

/** Returns true if JetStream reports that a stream, consumer or message does not exist. */
export const isNotFound = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const apiError: unknown = Reflect.get(error, 'api_error');
  return typeof apiError === 'object' && apiError !== null && Reflect.get(apiError, 'code') === 404;
};

/** Longer than a handler takes. A crashed replica's messages go to another one after this time. */
const ACK_WAIT_MS = 15_000;
const ACK_PENDING_MAX = 1_000;
/** Above the consumer's own limit: it parks a message before the server drops it. */
const DELIVERIES_MAX = 100;

/** A durable consumer to make. */
export interface DurableOptions extends Pick<Durable, 'stream' | 'subjects'> {
  readonly name: string;
  /** Time after which an unanswered message is delivered again. */
  readonly ackWaitMs?: number | undefined;
}

/** Creates a missing durable consumer or updates an existing one. */
export const ensureDurable = async (manager: JetStreamManager, durable: DurableOptions): Promise<void> => {
  const { name, stream, subjects, ackWaitMs = ACK_WAIT_MS } = durable;
  const config = {
    filter_subjects: [...subjects],
    max_deliver: DELIVERIES_MAX,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: ACK_PENDING_MAX,
  };
  const current = await findConfig(manager, stream, name);
  if (current === undefined) {
    await manager.consumers.add(stream, {
      ...config,
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
    });
    return;
  }
  const changed = Object.entries(config).some(
    ([key, value]) => JSON.stringify(Reflect.get(current, key)) !== JSON.stringify(value),
  );
  if (changed) await manager.consumers.update(stream, name, config);
};

const findConfig = async (
  manager: JetStreamManager,
  stream: string,
  name: string,
): Promise<ConsumerConfig | undefined> => {
  try {
    return (await manager.consumers.info(stream, name)).config;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

const GIB = 1024 ** 3;
/** The outbox keeps sent events as long, and would send them again. */
const STREAM_AGE_MS = 7 * 24 * 3600 * 1000;
/** A relay that dies between sending and recording it sends again within seconds of its successor's start. */
const DUPLICATE_WINDOW_MS = 10 * 60 * 1000;
const MESSAGE_BYTES_MAX = 2 * 1024 ** 2;
const BUCKET_BYTES_MAX = GIB / 4;
const REVOCATION_VALUE_BYTES_MAX = 1024;

/** Parts of the topology that depend on the environment. */
export interface TopologyOptions {
  /** Copies that the broker keeps of each stream: 3 in a cluster. */
  readonly replicas: number;
  /** Bytes of the facts in one stream. */
  readonly streamBytesMax: number;
  /** Durable consumers, in the order of their creation. */
  readonly durables: readonly DurableOptions[];
}

/** The event table's consumers, on one machine with little disk. */
export const DEFAULT_TOPOLOGY: TopologyOptions = { replicas: 1, streamBytesMax: 2 * GIB, durables };

/** Configurations of the streams of facts, one for each publisher. */
export const streamConfigs = ({ replicas, streamBytesMax }: TopologyOptions) =>
  Object.values(streams).map(
    ({ name, subjects }) =>
      ({
        name,
        subjects: [...subjects],
        storage: StorageType.File,
        compression: StoreCompression.S2,
        retention: RetentionPolicy.Limits,
        // A full stream rejects messages, and the outbox keeps them.
        discard: DiscardPolicy.New,
        max_bytes: streamBytesMax,
        max_age: nanos(STREAM_AGE_MS),
        max_msg_size: MESSAGE_BYTES_MAX,
        duplicate_window: nanos(DUPLICATE_WINDOW_MS),
        num_replicas: replicas,
      }) satisfies Partial<StreamConfig>,
  );

/** The bucket of revocations. */
export const bucketConfig = (replicas: number) => ({
  name: REVOCATIONS_BUCKET,
  options: {
    history: 1,
    ttl: REVOCATION_TTL_SECONDS * 1000,
    storage: StorageType.File,
    max_bytes: BUCKET_BYTES_MAX,
    maxValueSize: REVOCATION_VALUE_BYTES_MAX,
    replicas,
  } satisfies Partial<KvOptions>,
});
