import { expect, test } from 'vitest';
import { toProfileChange } from './profile-values.ts';

const values = { display_name: '  ', business_name: ' Rossi srl ', locale: 'it' } as const;

test('leaves the language as it is unless one is chosen', () => {
  expect(toProfileChange({ ...values, locale: '' }, 'personal')).toEqual({ display_name: null });
});

test('removes an emptied name, and sends a business name only for a business', () => {
  expect(toProfileChange(values, 'personal')).toEqual({ display_name: null, locale: 'it' });
  expect(toProfileChange(values, 'business')).toEqual({
    display_name: null,
    locale: 'it',
    business_name: 'Rossi srl',
  });
});
