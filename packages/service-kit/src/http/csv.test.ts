import { expect, test } from 'vitest';
import { prefersCsv } from './csv.ts';

test.each([
  ['text/csv', true],
  ['Text/CSV; charset=utf-8', true],
  ['text/csv, application/json', true],
  ['application/json;q=0.5, text/csv;q=0.9', true],
  ['text/csv, */*;q=0.1', true],
  ['application/json, text/csv', false],
  ['text/csv;q=0.5, application/json', false],
  ['text/csv;q=0', false],
  ['*/*', false],
  ['text/*', false],
  ['', false],
  [undefined, false],
])('Accept: %s prefers CSV: %s', (accept, isPreferred) => {
  expect(prefersCsv({ headers: accept === undefined ? {} : { accept } })).toBe(isPreferred);
});
