import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { ipv6Groups, unmapIpv4 } from '../network-address.ts';

/**
 * Digests the subject of an attempt. People type anything as an address, even a password, so only digests are stored.
 */
export const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Action that is limited per source. */
export type LimitedPurpose = 'sign-up' | 'password-reset' | 'client-document' | 'invitation';

/** Digests a network address. An IPv6 subscriber owns a whole /64, so that counts as one. */
export const sourceDigest = (purpose: 'source' | 'device-code' | LimitedPurpose, address: string): Buffer => {
  const plain = unmapIpv4(address);
  return digest(`${purpose}:${isIPv6(plain) ? ipv6Groups(plain).slice(0, 4).join(':') : plain}`);
};
