import { durables, REVOCATION_TTL_SECONDS, REVOCATIONS_BUCKET, streams } from '@svc/contracts';
import {
  DiscardPolicy,
  type KvOptions,
  nanos,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type StreamConfig,
} from 'nats';
import type { DurableOptions } from './ensure-durable.ts';

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
