import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Zone of a link-local address, such as the name of an interface. The library reads few of those that Node writes. */
const ZONE = /%.*$/;

/** Parses an address; one that carries an IPv4 address (RFC 4291 section 2.5.5.2) becomes that. */
const parse = (address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined =>
  isIP(address) === 0 ? undefined : ipaddr.process(address.replace(ZONE, ''));

const leadingGroups = (address: ipaddr.IPv6, count: number): string =>
  address.parts
    .slice(0, count)
    .map((group) => group.toString(16))
    .join(':');

/** Returns the address of a subscriber. Of IPv6 that is a whole /64, whose groups it returns. */
export const subscriberOf = (address: string): string => {
  const parsed = parse(address);
  return parsed instanceof ipaddr.IPv6 ? leadingGroups(parsed, 4) : (parsed?.toString() ?? address);
};

/**
 * Returns the network of an address, /24 or /48: coarse enough to identify a region, not a person. Null if it is not an
 * address.
 */
export const coarseNetwork = (address: string): string | null => {
  const parsed = parse(address);
  if (parsed instanceof ipaddr.IPv6) return `${leadingGroups(parsed, 3)}::/48`;
  return parsed === undefined ? null : `${parsed.octets.slice(0, 3).join('.')}.0/24`;
};
