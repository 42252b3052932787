import { expect, test } from 'vitest';
import { basePathOf, linkTo, organizationIn } from './organization-address.ts';

test('tells the organization of an address from pages of one’s own', () => {
  expect(organizationIn('/o/usr_1/keys')).toBe('usr_1');
  expect(organizationIn('/o/usr_1')).toBe('usr_1');
  for (const own of ['/', '/overview', '/o/', '/keys/o/usr_1']) expect(organizationIn(own)).toBeUndefined();
});

test('begins every address of an organization with its id', () => {
  expect(basePathOf('usr_1')).toBe('/o/usr_1');
  expect(basePathOf(undefined)).toBe('');
  expect([linkTo('usr_1'), linkTo(undefined, '/account')]).toEqual(['~/o/usr_1/', '~/account']);
});
