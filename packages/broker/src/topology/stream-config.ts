import { REVOCATION_TTL_SECONDS, REVOCATIONS_BUCKET, streams } from '@svc/contracts';
import { DiscardPolicy, type KvOptions, nanos, RetentionPolicy, StorageType, type StreamConfig } from 'nats';

const GIB = 1024 ** 3;
const DAY_MS = 24 * 3600 * 1000;
/** The outbox keeps sent events as long, and would send them again. */
const STREAM_AGE_MS = 7 * DAY_MS;
/** A relay that dies between sending and recording it sends again within seconds of its successor's start. */
const DUPLICATE_WINDOW_MS = 10 * 60 * 1000;
const STREAM_BYTES_MAX = 2 * GIB;
const MESSAGE_BYTES_MAX = 2 * 1024 ** 2;
const BUCKET_BYTES_MAX = GIB / 4;
const REVOCATION_VALUE_BYTES_MAX = 1024;

/** Configurations of the streams of facts, one for each publisher. */
export const streamConfigs = (replicas: number) =>
  Object.values(streams).map(
    ({ name, subjects }) =>
      ({
        name,
        subjects: [...subjects],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        // A full stream rejects messages, and the outbox keeps them.
        discard: DiscardPolicy.New,
        max_bytes: STREAM_BYTES_MAX,
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
