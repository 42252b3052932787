import { setTimeout as sleep } from 'node:timers/promises';
import { REVOCATIONS_STREAM } from '@svc/contracts';
import type { JetStreamManager, NatsConnection, StreamConfig } from 'nats';
import { isNotFound } from '../is-not-found.ts';
import { ensureDurable } from './ensure-durable.ts';
import { bucketConfig, streamConfigs, type TopologyOptions } from './stream-config.ts';

const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Creates missing streams, bucket and durable consumers, and updates those that differ. A limit that an operator has
 * raised stays. Services lack this right: a user who may configure a stream can have it copy and forward messages under
 * any subject.
 */
const applyTopology = async (connection: NatsConnection, topology: TopologyOptions): Promise<void> => {
  const manager = await connection.jetstreamManager({ timeout: REQUEST_TIMEOUT_MS });
  const { replicas, durables } = topology;
  for (const config of streamConfigs(topology)) await ensureStream(manager, config);
  const bucket = bucketConfig(replicas);
  await connection.jetstream({ timeout: REQUEST_TIMEOUT_MS }).views.kv(bucket.name, bucket.options);
  // The client creates a bucket but leaves an existing one unchanged.
  const { config } = await manager.streams.info(REVOCATIONS_STREAM);
  if (config.num_replicas !== replicas) await manager.streams.update(REVOCATIONS_STREAM, { num_replicas: replicas });
  for (const durable of durables) await ensureDurable(manager, durable);
};

const ensureStream = async (
  manager: JetStreamManager,
  wanted: Partial<StreamConfig> & { name: string; max_bytes: number },
): Promise<void> => {
  const current = await findConfig(manager, wanted.name);
  if (current === undefined) {
    await manager.streams.add(wanted);
    return;
  }
  const config = Object.assign({}, wanted, { max_bytes: Math.max(wanted.max_bytes, current.max_bytes) });
  const changed = Object.entries(config).some(
    ([key, value]) => JSON.stringify(Reflect.get(current, key)) !== JSON.stringify(value),
  );
  if (changed) await manager.streams.update(config.name, config);
};

const findConfig = async (manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> => {
  try {
    return (await manager.streams.info(name)).config;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

const ATTEMPTS_MAX = 20;
const RETRY_MS = 250;

/** Applies the topology to a broker that may have just started, and then refuses JetStream requests for a moment. */
export const applyPatiently = async (connection: NatsConnection, topology: TopologyOptions): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await applyTopology(connection, topology);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || connection.isClosed()) throw error;
      await sleep(RETRY_MS);
    }
  }
};
