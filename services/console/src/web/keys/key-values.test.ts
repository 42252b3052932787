import { expect, test } from 'vitest';
import { checkKey, EMPTY_KEY, type KeyValues, toKeySettings, valuesOf } from './key-values.ts';

const now = new Date('2026-11-20T12:00:00Z');
const typed = (values: Partial<KeyValues>): KeyValues => ({ ...EMPTY_KEY, name: 'Report', ...values });

test('removes every limit that is left empty', () => {
  expect(toKeySettings(typed({ name: ' Report ' }), now)).toEqual({
    name: 'Report',
    expires_at: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    monthly_limit_micros: null,
    models: null,
  });
});

test('converts typed values to the contract', () => {
  const values = typed({
    expires_at: 'days30',
    requests_per_minute: '60',
    tokens_per_minute: '20000',
    monthly_limit_micros: '12,5',
    models: 'svc-chat, svc-large\nsvc-embed',
  });
  expect(checkKey(values, '')).toEqual([]);
  expect(toKeySettings(values, now)).toEqual({
    name: 'Report',
    expires_at: '2026-12-20T12:00:00.000Z',
    requests_per_minute: 60,
    tokens_per_minute: 20_000,
    monthly_limit_micros: 12_500_000,
    models: ['svc-chat', 'svc-large', 'svc-embed'],
  });
});

test('sends an existing key back unchanged, without its expiry', () => {
  const key = {
    id: 'key_1',
    name: 'Report',
    prefix: 'svc_sk_1',
    active: true,
    created_at: now.toISOString(),
    created_by: { svc_user_id: 'usr_1', name: 'Ada Rossi' },
    creator_left: false,
    last_used_at: null,
    previous_expires_at: null,
    spent_this_month_micros: 0,
    expires_at: '2027-01-01T00:00:00.000Z',
    requests_per_minute: 60,
    tokens_per_minute: null,
    monthly_limit_micros: 12_500_000,
    models: ['svc-chat'],
  };
  expect(toKeySettings(valuesOf(key, 'it'), now)).toEqual({
    name: 'Report',
    requests_per_minute: 60,
    tokens_per_minute: null,
    monthly_limit_micros: 12_500_000,
    models: ['svc-chat'],
  });
});

test('finds all faults at once', () => {
  const values = typed({ name: '', requests_per_minute: '0', tokens_per_minute: 'x', monthly_limit_micros: 'much' });
  expect(checkKey(values, 'An amount.').map(({ loc, type }) => `${loc.join('.')} ${type}`)).toEqual([
    'body.name missing',
    'body.requests_per_minute greater_than_equal',
    'body.tokens_per_minute int_type',
    'body.monthly_limit_micros value_error',
  ]);
});
