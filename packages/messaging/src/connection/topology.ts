import { REVOCATION_TTL_SECONDS, REVOCATIONS_BUCKET, streams } from '@svc/contracts';
import {
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats';
import { REVOCATIONS_STREAM } from './event-types.ts';

const GIB = 1024 ** 3;
const DAY_MS = 24 * 3600 * 1000;
/** The outbox keeps what was sent as long, and would send it again. */
const STREAM_AGE_MS = 7 * DAY_MS;
/** A relay that died between sending and noting it sends again within seconds of its successor's start. */
const DUPLICATE_WINDOW_MS = 10 * 60 * 1000;
const STREAM_BYTES_MAX = 2 * GIB;
const MESSAGE_BYTES_MAX = 2 * 1024 ** 2;
const BUCKET_BYTES_MAX = GIB / 4;
const REVOCATION_VALUE_BYTES_MAX = 1024;

/** Makes the streams and the bucket that are missing, and brings those that differ up to date. */
export const ensureTopology = async (jsm: JetStreamManager, js: JetStreamClient, replicas: number): Promise<void> => {
  for (const { name, subjects } of Object.values(streams)) {
    await ensureStream(jsm, streamConfig(name, subjects, replicas));
  }
  await js.views.kv(REVOCATIONS_BUCKET, {
    history: 1,
    ttl: REVOCATION_TTL_SECONDS * 1000,
    storage: StorageType.File,
    max_bytes: BUCKET_BYTES_MAX,
    maxValueSize: REVOCATION_VALUE_BYTES_MAX,
    replicas,
  });
  // The client makes a bucket, and leaves one that is there as it is.
  const { config } = await jsm.streams.info(REVOCATIONS_STREAM);
  if (config.num_replicas !== replicas) await jsm.streams.update(REVOCATIONS_STREAM, { num_replicas: replicas });
};

const streamConfig = (name: string, subjects: readonly string[], replicas: number) => {
  return {
    name,
    subjects: [...subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // A full stream refuses, and the outbox holds what it cannot take.
    discard: DiscardPolicy.New,
    max_bytes: STREAM_BYTES_MAX,
    max_age: nanos(STREAM_AGE_MS),
    max_msg_size: MESSAGE_BYTES_MAX,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    num_replicas: replicas,
  } satisfies Partial<StreamConfig>;
};

const ensureStream = async (jsm: JetStreamManager, config: ReturnType<typeof streamConfig>): Promise<void> => {
  const existing = await findStream(jsm, config.name);
  if (existing === undefined) {
    await jsm.streams.add(config);
    return;
  }
  const changed = Object.entries(config).some(([key, value]) => {
    const current: unknown = Reflect.get(existing.config, key);
    return JSON.stringify(current) !== JSON.stringify(value);
  });
  if (changed) await jsm.streams.update(config.name, config);
};

/** The stream's state; undefined when there is no such stream. */
export const findStream = async (jsm: JetStreamManager, name: string) => {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** Whether JetStream says that a stream, consumer or message does not exist. */
export const isNotFound = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const apiError: unknown = Reflect.get(error, 'api_error');
  return typeof apiError === 'object' && apiError !== null && Reflect.get(apiError, 'code') === 404;
};
