import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'nats';

/** Address of the broker and its certificate authority. */
export interface BrokerAddress {
  /** One URL, or several separated by commas, with the credentials of one user. */
  readonly url: string;
  /** PEM file of the authority that signed the servers' certificates. With it, nothing is sent over plain TCP. */
  readonly caFile?: string | undefined;
}

/**
 * Turns an address into options of the NATS client, which itself ignores credentials in a URL. `tls:` and a CA file both
 * demand a verified certificate. Throws RangeError if the servers could not be told apart by name or have several users.
 */
export const connectionOptions = ({ url, caFile }: BrokerAddress): ConnectionOptions => {
  const urls = url.split(',').map((one) => new URL(one.trim()));
  const [credentials = '', ...others] = new Set(urls.map(credentialsOf).filter((each) => each !== ':'));
  if (others.length > 0) throw new RangeError('the NATS servers of one list take the same credentials');
  const [user = '', pass = ''] = credentials.split(':').map(decodeURIComponent);
  const servers = urls.map(({ host }) => host);
  const login = user === '' ? { servers } : { servers, user, pass };
  const isEncrypted = caFile !== undefined || urls.some(({ protocol }) => protocol === 'tls:');
  if (!isEncrypted) return login;
  // The client compares a certificate with a name only.
  if (urls.some(({ hostname }) => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)) {
    throw new RangeError('NATS servers with certificates are named by host names, not by IP addresses');
  }
  return { ...login, tls: caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') } };
};

const credentialsOf = ({ username, password }: URL): string => `${username}:${password}`;
