import { readFileSync } from 'node:fs';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';

/** Parameters of a connection string that decide on TLS. The driver lets them win over its options. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat'];

/**
 * TLS options that accept a server only with a certificate of this authority for the host of the URL, be it a name or an
 * address. Throws RangeError for a URL whose own parameters would decide instead.
 */
export const serverVerification = (url: string, caFile: string): ConnectionOptions => {
  const { hostname, searchParams } = new URL(url);
  const found = TLS_PARAMETERS.filter((name) => searchParams.has(name));
  if (found.length > 0) throw new RangeError(`beside a CA file, a database URL has no ${found.join(', ')}`);
  const host = decodeURIComponent(hostname).replace(/^\[|\]$/g, '');
  return {
    ca: readFileSync(caFile, 'utf8'),
    rejectUnauthorized: true,
    // The driver tells TLS no host where that is an address, and TLS then compares with `localhost`.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  };
};
