import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { BillingClient } from '../billing-client.ts';

/** The lease of this process, which holds its reservations and the leases of API keys. */
export interface ProcessLease {
  readonly id: string;
  /** Starts to renew the lease of this process, which takes recalls at its internal listener. */
  readonly start: (internalUrl: string) => void;
  /** Stops renewing. Ends the lease if the process is idle; otherwise it expires and billing ends the reservations. */
  readonly stop: () => Promise<void>;
}

interface ProcessLeaseOptions {
  readonly id: string;
  readonly billing: Pick<BillingClient, 'renewHolder' | 'endHolder'>;
  /** Returns true if this process has no request in flight and no queued record. */
  readonly isIdle: () => boolean;
  readonly logger: Logger;
  readonly intervalMs?: number;
}

/** Leaves time for two retries before a lease of ten seconds expires. */
const RENEWAL_INTERVAL_MS = 3_000;

/**
 * Creates the holder. After an outage it continues with the same id: usage records still settle the reservations that
 * billing made uncertain in the meantime, and other reservations stay open.
 */
export const createProcessLease = ({ id, billing, isIdle, logger, intervalMs }: ProcessLeaseOptions): ProcessLease => {
  let renewing: PeriodicWork | undefined;
  return {
    id,
    start: (internalUrl) => {
      renewing = runPeriodically({
        name: 'holder',
        intervalMs: intervalMs ?? RENEWAL_INTERVAL_MS,
        run: () => billing.renewHolder(id, { internal_url: internalUrl }),
        logger,
      });
    },
    stop: async () => {
      await renewing?.stop();
      if (!isIdle()) return;
      await billing.endHolder(id).catch((error: unknown) => {
        logger.warn({ err: error }, 'could not end the lease of this process; it will expire');
      });
    },
  };
};

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/**
 * Returns the address at which other processes reach a listener: the host that it listens on, or the machine's own address
 * if it listens on all. A machine without a network has its loopback address.
 */
export const reachableUrl = (
  { host, port }: { readonly host: string; readonly port: number },
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): string => {
  const own = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .sort((one, other) => (one.family < other.family ? -1 : 1));
  const address = WILDCARDS.has(host) ? (own[0]?.address ?? '127.0.0.1') : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
};
