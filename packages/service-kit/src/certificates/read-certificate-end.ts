import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate } from 'node:tls';

const TIMEOUT_MS = 10_000;
/** Asks PostgreSQL for TLS: its length and a code in place of a version (PostgreSQL manual, "SSLRequest"). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** The side of a connection that shows a certificate. */
export type CertificatePeer = 'broker' | 'database' | 'entrance';

export interface CertificateAddress {
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
export const readCertificateEnd = async ({ peer, host, port, authority }: CertificateAddress): Promise<number> => {
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
