import { isIPv4, isIPv6 } from 'node:net';

const IPV6_GROUPS = 8;

/** Converts an IPv4-mapped IPv6 address to IPv4 (RFC 4291 section 2.5.5.2). */
export const unmapIpv4 = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;

/** Returns the eight groups of an IPv6 address in canonical form (RFC 5952 section 4). */
export const ipv6Groups = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: Math.max(0, IPV6_GROUPS - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].map((group) => group.replace(/^0+(?=.)/, '').toLowerCase());
};

/**
 * Returns the network of an address, /24 or /48: coarse enough to identify a region, not a person. Null if it is not an
 * address.
 */
export const coarseNetwork = (address: string): string | null => {
  const plain = unmapIpv4(address);
  if (isIPv4(plain)) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  return isIPv6(plain) ? `${ipv6Groups(plain).slice(0, 3).join(':')}::/48` : null;
};
