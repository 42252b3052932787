import { durables, REVOCATIONS_STREAM, streams } from '@svc/contracts';
import { Events, type NatsConnection } from 'nats';
import { connectToBroker } from './connect-to-broker.ts';
import type { BrokerAddress } from './connection-options.ts';
import { applyPatiently } from './topology/apply-patiently.ts';
import { DEFAULT_TOPOLOGY } from './topology/stream-config.ts';

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
