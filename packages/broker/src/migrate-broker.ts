import { connectToBroker } from './connect-to-broker.ts';
import type { BrokerAddress } from './connection-options.ts';
import { applyPatiently } from './topology/apply-patiently.ts';

/** The broker to migrate, as its operator. */
export interface MigrateBrokerOptions extends BrokerAddress {
  /** Copies that the broker keeps of each stream: 3 in a cluster. */
  readonly replicas?: number | undefined;
}

/** Brings streams, bucket and durable consumers of a broker to this release; waits up to 30 s for a broker that starts. */
export const migrateBroker = async ({ replicas = 1, ...address }: MigrateBrokerOptions): Promise<void> => {
  const connection = await connectToBroker({ ...address, name: 'operator' });
  try {
    await applyPatiently(connection, replicas);
  } finally {
    await connection.close();
  }
};
