import { expect, test } from 'vitest';
import { coarseNetwork, subscriberOf } from './network-address.ts';

test.each([
  ['203.0.113.77', '203.0.113.0/24', '203.0.113.77'],
  ['::ffff:203.0.113.77', '203.0.113.0/24', '203.0.113.77'],
  ['2001:DB8:0012::1', '2001:db8:12::/48', '2001:db8:12:0'],
  ['2001:db8:12:34:0:ff::', '2001:db8:12::/48', '2001:db8:12:34'],
  ['fe80::1%eth0', 'fe80:0:0::/48', 'fe80:0:0:0'],
  ['fe80::1%br-0a1b.100', 'fe80:0:0::/48', 'fe80:0:0:0'],
  ['::ffff:cb00:714d', '203.0.113.0/24', '203.0.113.77'],
  ['::1', '0:0:0::/48', '0:0:0:0'],
  ['not an address', null, 'not an address'],
  ['', null, ''],
])('maps %s to the network %s and the subscriber %s', (address, network, subscriber) => {
  expect([coarseNetwork(address), subscriberOf(address)]).toEqual([network, subscriber]);
});
