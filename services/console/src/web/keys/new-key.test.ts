import { expect, test } from 'vitest';
import { checkNewKey, type NewKeyValues, toCreateKey } from './new-key.ts';

const now = new Date('2026-11-20T12:00:00Z');
const typed = (values: Partial<NewKeyValues>): NewKeyValues => ({
  name: 'Report',
  expires_at: 'never',
  requests_per_minute: '',
  monthly_limit_micros: '',
  ...values,
});

test('leaves out what is left empty', () => {
  expect(toCreateKey(typed({ name: ' Report ' }), now)).toEqual({ name: 'Report' });
});

test('turns what is typed into what the contract takes', () => {
  const values = typed({ expires_at: 'days30', requests_per_minute: '60', monthly_limit_micros: '12,5' });
  expect(checkNewKey(values, '')).toEqual([]);
  expect(toCreateKey(values, now)).toEqual({
    name: 'Report',
    expires_at: '2026-12-20T12:00:00.000Z',
    requests_per_minute: 60,
    monthly_limit_micros: 12_500_000,
  });
});

test('finds all faults at once', () => {
  const values = typed({ name: '', requests_per_minute: '0', monthly_limit_micros: 'much' });
  expect(checkNewKey(values, 'An amount.').map(({ loc, type }) => `${loc.join('.')} ${type}`)).toEqual([
    'body.name missing',
    'body.requests_per_minute greater_than_equal',
    'body.monthly_limit_micros value_error',
  ]);
});
