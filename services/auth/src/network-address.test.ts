import { expect, test } from 'vitest';
import { coarseNetwork } from './network-address.ts';

test.each([
  ['203.0.113.77', '203.0.113.0/24'],
  ['::ffff:203.0.113.77', '203.0.113.0/24'],
  ['2001:DB8:0012::1', '2001:db8:12::/48'],
  ['::1', '0:0:0::/48'],
  ['not an address', null],
  ['', null],
])('maps %s to %s', (address, network) => {
  expect(coarseNetwork(address)).toBe(network);
});
