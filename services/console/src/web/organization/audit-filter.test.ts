import { expect, test } from 'vitest';
import { readFilter, toQuery, writeFilter } from './audit-filter.ts';

test('keeps a filter in the address, and drops what it does not know', () => {
  const filter = { actor: 'usr_1', action: 'api_key.created', from: '2026-03-01', to: '' } as const;
  expect(readFilter(new URLSearchParams(writeFilter(filter)))).toEqual(filter);
  expect(readFilter(new URLSearchParams('action=anything&from=yesterday'))).toEqual({
    actor: '',
    action: '',
    from: '',
    to: '',
  });
});

test('includes the whole last day, also when the clocks change', () => {
  const { from, to } = toQuery({ actor: '', action: '', from: '2026-03-29', to: '2026-03-29' });
  expect(from).toBe(new Date('2026-03-29T00:00').toISOString());
  expect(to).toBe(new Date('2026-03-30T00:00').toISOString());
  expect(toQuery({ actor: '', action: '', from: '', to: '' })).toEqual({});
});
