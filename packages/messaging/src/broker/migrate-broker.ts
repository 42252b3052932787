import { setTimeout as sleep } from 'node:timers/promises';
import { durables, REVOCATIONS_STREAM, streams } from '@svc/contracts';
import { Events, type JetStreamManager, type NatsConnection, type StreamConfig } from 'nats';
import { type BrokerAddress, connectToBroker } from './connect-to-broker.ts';
import {
  bucketConfig,
  DEFAULT_TOPOLOGY,
  ensureDurable,
  isNotFound,
  streamConfigs,
  type TopologyOptions,
} from './topology.ts';

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
const applyPatiently = async (connection: NatsConnection, topology: TopologyOptions): Promise<void> => {
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

/** The broker to migrate, as its operator. */
export interface MigrateBrokerOptions extends BrokerAddress, Partial<TopologyOptions> {}

/** Brings streams, bucket and durable consumers of a broker to this release; waits up to 30 s for a broker that starts. */
export const migrateBroker = async ({
  replicas = DEFAULT_TOPOLOGY.replicas,
  streamBytesMax = DEFAULT_TOPOLOGY.streamBytesMax,
  durables = DEFAULT_TOPOLOGY.durables,
  ...address
}: MigrateBrokerOptions): Promise<void> => {
  const connection = await connectToBroker({ ...address, name: 'operator' });
  try {
    await applyPatiently(connection, { replicas, streamBytesMax, durables });
  } finally {
    await connection.close();
  }
};

const ADVISORY = '$JS.EVENT.ADVISORY';

/** A broker that is migrated again whenever it loses a stream or a durable consumer. */
export interface KeptBroker {
  readonly stop: () => Promise<void>;
}

/**
 * Migrates a single server, and again after each reconnection and each deletion of a stream or durable consumer. Throws if
 * the first migration fails; later failures go to `onFailure`.
 */
export const keepBrokerMigrated = async (
  address: BrokerAddress,
  onFailure: (error: unknown) => void,
): Promise<KeptBroker> => {
  const connection = await connectToBroker({ ...address, name: 'operator' });
  const first = applyPatiently(connection, DEFAULT_TOPOLOGY);
  let migrating = first;
  const migrateAgain = () => {
    migrating = migrating
      .then(() => applyPatiently(connection, DEFAULT_TOPOLOGY))
      .catch((error: unknown) => {
        if (!connection.isClosed()) onFailure(error);
      });
  };
  for (const subject of deletions()) connection.subscribe(subject, { callback: migrateAgain });
  try {
    await first;
  } catch (error) {
    await connection.close();
    throw error;
  }
  void afterEachReconnect(connection, migrateAgain);
  return {
    async stop() {
      await connection.close();
      await migrating;
    },
  };
};

/** Subjects of JetStream's advisories. Consumers of watches come and go, so only durables count. */
const deletions = (): string[] => [
  ...[...Object.values(streams).map(({ name }) => name), REVOCATIONS_STREAM].map(
    (stream) => `${ADVISORY}.STREAM.DELETED.${stream}`,
  ),
  ...durables.map(({ stream, name }) => `${ADVISORY}.CONSUMER.DELETED.${stream}.${name}`),
];

const afterEachReconnect = async (connection: NatsConnection, listener: () => void): Promise<void> => {
  for await (const { type } of connection.status()) if (type === Events.Reconnect) listener();
};
