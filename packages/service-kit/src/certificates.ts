import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate } from 'node:tls';
import type { Metrics } from './create-metrics.ts';
import { type PeriodicWork, runPeriodically } from './lifecycle/run-periodically.ts';
import type { LogFields } from './logging/log-fields.ts';

const TIMEOUT_MS = 10_000;
/** Asks PostgreSQL for TLS: its length and a code in place of a version (PostgreSQL manual, "SSLRequest"). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** The side of a connection that shows a certificate. */
type CertificatePeer = 'broker' | 'database' | 'entrance';

interface CertificateAddress {
  readonly peer: CertificatePeer;
  readonly host: string;
  readonly port: number;
  /** PEM text of the authority that this deployment trusts for the peer. Its end counts too. */
  readonly authority?: string | undefined;
}

/**
 * Opens a connection, sends nothing secret, and returns the instant at which the certificate of the other side ends, in
 * milliseconds since the epoch. An expired certificate is no error. Rejects if there is no TLS handshake within 10 s.
 */
const readCertificateEnd = async ({ peer, host, port, authority }: CertificateAddress): Promise<number> => {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const socket = connectPlain({ host, port, signal }).on('error', ignore);
  try {
    await once(socket, 'connect', { signal });
    await startTls[peer](socket);
    const secure = connectTls({
      socket,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(authority === undefined ? {} : { ca: authority }),
      // Connections that carry data verify. This one also reads a certificate that has expired.
      rejectUnauthorized: false,
    }).on('error', ignore);
    await once(secure, 'secureConnect', { signal });
    return endOf(secure.getPeerCertificate(true), authority !== undefined);
  } finally {
    socket.destroy();
  }
};

const ignore = (): void => {};

/** Each protocol's steps between the TCP connection and the TLS handshake. */
const startTls: Readonly<Record<CertificatePeer, (socket: Socket) => Promise<void>>> = {
  entrance: async () => undefined,
  broker: async (socket) => void (await received(socket, (text) => text.endsWith('\n'))),
  database: async (socket) => {
    socket.write(SSL_REQUEST);
    const answer = await received(socket, (text) => text.length > 0);
    if (answer !== 'S') throw new Error('the server refuses TLS');
  },
};

/** Resolves with what the server has sent once it is whole. Rejects when the connection closes. */
const received = (socket: Socket, isWhole: (text: string) => boolean): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const collect = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!isWhole(text)) return;
      socket.off('data', collect);
      resolve(text);
    };
    socket.on('data', collect).once('close', () => reject(new Error('the server sent no greeting')));
  });

/** Of a deployment's own authority, the certificates up to its root count. Public roots are renewed by others. */
const endOf = (certificate: DetailedPeerCertificate, withIssuers: boolean): number => {
  const endMs = Date.parse(certificate.valid_to);
  if (Number.isNaN(endMs)) throw new Error('the server has no certificate');
  const issuer = certificate.issuerCertificate;
  const isRoot = issuer === undefined || issuer.fingerprint256 === certificate.fingerprint256;
  return withIssuers && !isRoot ? Math.min(endMs, endOf(issuer, withIssuers)) : endMs;
};

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
