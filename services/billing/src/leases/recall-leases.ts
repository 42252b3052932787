import { internalRoutes, LEASES_MAX, type RecalledLeases } from '@svc/contracts';
import { createInternalClient, type InternalClient, type Logger } from '@svc/service-kit';
import type { LeaseHolder } from './queries.ts';

/**
 * Gives back what a holder's leases hold unspent. Rejects if the holder does not answer in time. One that was silent within the
 * last second is not waited for: it gives back nothing.
 */
export type RecallLeases = (holder: LeaseHolder) => Promise<RecalledLeases['leases']>;

/** A holder that has not answered by then counts as holding everything. */
const RECALL_TIMEOUT_MS = 100;
/** A silent holder delays one refusal in this time. */
const SILENCE_MS = 1_000;
/** Holders with open connections. Beyond it, the one that was recalled least recently is closed. */
const GATEWAYS_MAX = 200;
const CONNECTIONS_MAX = 4;

interface Gateway {
  readonly client: InternalClient;
  /** Time of the last call that it did not answer; undefined once it answers. */
  silentAtMs: number | undefined;
}

export interface LeaseRecalls {
  readonly recall: RecallLeases;
  readonly close: () => Promise<void>;
}

/** Creates the client of holders' internal listeners. */
export const createLeaseRecalls = ({
  token,
  logger,
  timeoutMs = RECALL_TIMEOUT_MS,
  monotonicMs = () => performance.now(),
}: {
  readonly token: string;
  readonly logger: Logger;
  readonly timeoutMs?: number;
  readonly monotonicMs?: () => number;
}): LeaseRecalls => {
  const gateways = new Map<string, Gateway>();
  const gatewayOf = (baseUrl: string): Gateway => {
    const gateway = gateways.get(baseUrl) ?? {
      client: createInternalClient({ baseUrl, token, timeoutMs, connectionsMax: CONNECTIONS_MAX }),
      silentAtMs: undefined,
    };
    gateways.delete(baseUrl);
    gateways.set(baseUrl, gateway);
    const [oldest] = gateways;
    if (gateways.size > GATEWAYS_MAX && oldest !== undefined) {
      gateways.delete(oldest[0]);
      oldest[1].client
        .close()
        .catch((error: unknown) => logger.warn({ err: error }, 'a connection to a gateway did not close'));
    }
    return gateway;
  };
  return {
    recall: async ({ internalUrl, leaseIds }) => {
      const gateway = gatewayOf(internalUrl);
      if (gateway.silentAtMs !== undefined) {
        if (monotonicMs() - gateway.silentAtMs < SILENCE_MS) return [];
        gateway.silentAtMs = monotonicMs();
      }
      try {
        const leases = await callInParts(gateway.client, leaseIds);
        gateway.silentAtMs = undefined;
        return leases;
      } catch (error) {
        gateway.silentAtMs = monotonicMs();
        throw error;
      }
    },
    close: async () => {
      await Promise.all([...gateways.values()].map(({ client }) => client.close()));
      gateways.clear();
    },
  };
};

/** Recalls leases in calls of at most `LEASES_MAX`. Omits reports of other leases than these. */
const callInParts = async (client: InternalClient, leaseIds: readonly string[]): Promise<RecalledLeases['leases']> => {
  const parts: string[][] = [];
  for (let from = 0; from < leaseIds.length; from += LEASES_MAX) parts.push(leaseIds.slice(from, from + LEASES_MAX));
  const recalled = await Promise.all(
    parts.map(
      async (lease_ids) => (await client.call(internalRoutes.recallLeases, { body: { lease_ids } })).body.leases,
    ),
  );
  const wanted = new Set(leaseIds);
  return recalled.flat().filter(({ lease_id }) => wanted.has(lease_id));
};
