import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { ipv6Groups, unmapIpv4 } from '../network-address.ts';

/** Digests what an attempt counts for. People type anything as an address, even a password, so only digests are stored. */
export const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Act that is limited for each source. */
export type LimitedPurpose = 'sign-up' | 'password-reset';

/** Digests a network address; one IPv6 subscriber owns a whole /64. */
export const sourceDigest = (purpose: 'source' | LimitedPurpose, address: string): Buffer => {
  const plain = unmapIpv4(address);
  return digest(`${purpose}:${isIPv6(plain) ? ipv6Groups(plain).slice(0, 4).join(':') : plain}`);
};
