import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from 'nats';
import { applyTopology } from './apply-topology.ts';
import type { TopologyOptions } from './stream-config.ts';

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
