import { expect, test } from 'vitest';
import { signInAddress } from './leave-for-sign-in.tsx';

test('remembers the page and the reason', () => {
  expect(signInAddress({ reason: 'expired', locale: 'it', page: '/usage?days=7' })).toBe(
    '/sign-in?next=%2Fusage%3Fdays%3D7&reason=expired&locale=it',
  );
});

test('leads to the overview after signing out', () => {
  expect(signInAddress({ reason: 'signed_out', locale: 'en', page: '/wallet' })).toBe(
    '/sign-in?reason=signed_out&locale=en',
  );
});
