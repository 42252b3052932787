import { readFileSync } from 'node:fs';
import { type PeriodicWork, runPeriodically } from '../lifecycle/run-periodically.ts';
import type { LogFields } from '../logging/log-fields.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import { type CertificateAddress, type CertificatePeer, readCertificateEnd } from './read-certificate-end.ts';

const CHECK_INTERVAL_MS = 600_000;
const DEFAULT_PORTS: Readonly<Record<CertificatePeer, number>> = { database: 5432, broker: 4222, entrance: 443 };
/** Parameters of a database URL that demand TLS. */
const TLS_PARAMETER = /[?&](ssl=(true|1)|sslmode=(?!disable))/;

/** The settings of a service that name its connections. */
interface ConnectionSettings {
  readonly DATABASE_URL: string;
  readonly DATABASE_CA_FILE?: string | undefined;
  readonly NATS_URL: string;
  readonly NATS_CA_FILE?: string | undefined;
}

export interface CertificateWatchOptions {
  readonly config: ConnectionSettings;
  /** Address of the public entrance, in the one service that watches it. */
  readonly entrance?: string;
  readonly metrics: Pick<Metrics, 'gauge'>;
  readonly logger: Record<'warn' | 'error', (fields: LogFields, message: string) => void>;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/**
 * Reports the seconds until the certificates of a service's connections end, for an alert ahead. Of several servers the
 * first end counts. A server that does not answer keeps its last one, because it may be the end that keeps it away.
 */
export const watchCertificates = ({
  config,
  entrance = '',
  metrics,
  logger,
  clock = Date.now,
}: CertificateWatchOptions): PeriodicWork => {
  const secondsLeft = metrics.gauge({
    name: 'tls_certificate_expires_seconds',
    help: 'Seconds until the certificate of the other side of a connection ends. Negative afterwards.',
    labelNames: ['peer'],
  });
  const addresses = listAddresses(config, entrance);
  const ends = new Map<CertificateAddress, number>();
  const silent = new Set<CertificateAddress>();

  const read = async (address: CertificateAddress): Promise<void> => {
    try {
      ends.set(address, await readCertificateEnd(address));
      silent.delete(address);
    } catch (err) {
      if (silent.has(address)) return;
      silent.add(address);
      logger.warn({ component: 'certificates', host: address.host, err }, 'the certificate could not be read');
    }
  };
  return runPeriodically({
    name: 'certificates',
    intervalMs: CHECK_INTERVAL_MS,
    logger,
    run: async () => {
      await Promise.all(addresses.map(read));
      const firstEnds = new Map<CertificatePeer, number>();
      for (const [{ peer }, endMs] of ends) firstEnds.set(peer, Math.min(endMs, firstEnds.get(peer) ?? endMs));
      for (const [peer, endMs] of firstEnds) secondsLeft.set({ peer }, Math.round((endMs - clock()) / 1_000));
    },
  });
};

/** Lists the servers that a service reaches by TLS. */
const listAddresses = (config: ConnectionSettings, entrance: string): CertificateAddress[] => {
  const { DATABASE_URL, DATABASE_CA_FILE, NATS_URL, NATS_CA_FILE } = config;
  return [
    ...(DATABASE_CA_FILE !== undefined || TLS_PARAMETER.test(DATABASE_URL)
      ? addressesOf('database', DATABASE_URL, DATABASE_CA_FILE)
      : []),
    ...(NATS_CA_FILE !== undefined || NATS_URL.includes('tls://') ? addressesOf('broker', NATS_URL, NATS_CA_FILE) : []),
    ...(entrance.startsWith('https:') ? addressesOf('entrance', entrance, undefined) : []),
  ];
};

/** Several servers are separated by commas; those after the first may lack scheme and credentials. */
const addressesOf = (peer: CertificatePeer, urls: string, caFile: string | undefined): CertificateAddress[] =>
  urls.split(',').map((url) => {
    const { hostname, port } = new URL(`tls://${url.trim().replace(/^[a-z]+:\/\//, '')}`);
    return {
      peer,
      host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
      port: Number(port || DEFAULT_PORTS[peer]),
      authority: caFile === undefined ? undefined : readFileSync(caFile, 'utf8'),
    };
  });
