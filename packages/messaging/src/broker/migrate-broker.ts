import { connectToBroker } from './connect-to-broker.ts';
import type { BrokerAddress } from './connection-options.ts';
import { applyPatiently } from './topology/apply-patiently.ts';
import { DEFAULT_TOPOLOGY, type TopologyOptions } from './topology/stream-config.ts';

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
