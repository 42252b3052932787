import { expect, test } from 'vitest';
import { readFilter, toQuery, writeFilter } from './usage-filter.ts';

test('writes a filter into the address and reads it back', () => {
  const filter = { range: 'days7', keyId: 'key_1', model: 'svc-chat', status: '429' } as const;
  const search = writeFilter(filter);
  expect(String(search)).toBe('days=7&key=key_1&model=svc-chat&status=429');
  expect(readFilter(search)).toEqual(filter);
});

test('leaves the default out of the address', () => {
  expect(String(writeFilter({ range: 'days30', keyId: '', model: '', status: '' }))).toBe('');
});

test('ignores values that it does not know', () => {
  const filter = readFilter(new URLSearchParams('days=12&status=teapot'));
  expect(filter).toEqual({ range: 'days30', keyId: '', model: '', status: '' });
});

test('requests the selected records from the start of the first day', () => {
  const now = new Date('2026-11-20T15:00Z');
  expect(toQuery({ range: 'days7', keyId: '', model: 'svc-chat', status: '429' }, now)).toEqual({
    from: '2026-11-14T00:00:00.000Z',
    model: 'svc-chat',
    status: 429,
  });
  const filter = { range: 'days30', keyId: 'key_1', model: '', status: '' } as const;
  expect(toQuery(filter, new Date('2026-11-20T23:59Z'))).toEqual({
    from: '2026-10-22T00:00:00.000Z',
    key_id: 'key_1',
  });
});
