import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const ranges = (cidrs: readonly string[]): readonly [ipaddr.IPv4 | ipaddr.IPv6, number][] =>
  cidrs.map((cidr) => ipaddr.parseCIDR(cidr));

/**
 * IPv4 space outside the public internet: the IANA special-purpose registry (RFC 6890 and its successors), multicast, class E,
 * and the metadata services of clouds.
 */
const NON_PUBLIC_IPV4 = ranges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure's WireServer has a public address, but answers only inside Azure.
  '168.63.129.16/32',
]);

/** The only IPv6 space assigned to the public internet (RFC 4291 section 2.4, IANA). */
const GLOBAL_UNICAST_IPV6 = ranges(['2000::/3']);

/** Parts of 2000::/3 with another purpose, such as tunnels that carry an IPv4 address. */
const NON_PUBLIC_IPV6 = ranges([
  // Teredo, ORCHID, benchmarking and the other protocol assignments.
  '2001::/23',
  '2001:db8::/32',
  // 6to4: its relays are retired (RFC 7526).
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]);

/** Well-known prefix of translators, which connect to the IPv4 address in the last 32 bits (RFC 6052). */
const NAT64_PREFIX = ranges(['64:ff9b::/96']);

/** ISATAP interface identifiers end in an IPv4 address (RFC 5214 section 6.1). */
const ISATAP_MARKS: readonly string[] = ['00005efe', '02005efe'];

/**
 * Returns true if the text is an IP address in public space. An address that carries an IPv4 address is checked by that one.
 */
export const isPublicAddress = (text: string): boolean => {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv4 ? isPublicIpv4(address) : isPublicIpv6(address);
};

const isPublicIpv4 = (address: ipaddr.IPv4): boolean => !isWithin(address, NON_PUBLIC_IPV4);

const isPublicIpv6 = (address: ipaddr.IPv6): boolean => {
  if (address.zoneId !== undefined && address.zoneId !== '') return false;
  if (isWithin(address, NAT64_PREFIX)) return isPublicIpv4(lastFourBytes(address));
  if (!isWithin(address, GLOBAL_UNICAST_IPV6) || isWithin(address, NON_PUBLIC_IPV6)) return false;
  const interfaceMark = Buffer.from(address.toByteArray().slice(8, 12)).toString('hex');
  return !ISATAP_MARKS.includes(interfaceMark) || isPublicIpv4(lastFourBytes(address));
};

const lastFourBytes = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, list: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][]): boolean =>
  list.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
