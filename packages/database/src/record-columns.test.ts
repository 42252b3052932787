import { expect, test } from 'vitest';
import { recordColumns } from './record-columns.ts';

interface Place {
  readonly clientId: string;
  readonly createdAt: Date | null;
}

const columns = recordColumns<Place>({ clientId: 'client_id text', createdAt: 'created_at timestamp with time zone' });

test('selects rows as records', () => {
  expect(columns.select('e')).toBe('e.client_id AS "clientId", e.created_at AS "createdAt"');
});

test('takes many records as one array for each column, in one order', () => {
  expect(columns.unnest('given', 3)).toBe(
    'unnest($3::text[], $4::timestamp with time zone[]) AS given (client_id, created_at)',
  );
  const records = [
    { createdAt: null, clientId: 'a', other: 1 },
    { clientId: 'b', createdAt: null },
  ];
  expect(columns.arrays(records)).toEqual([
    ['a', 'b'],
    [null, null],
  ]);
});

test('turns a record into a row, without fields that have no column', () => {
  const record = { clientId: 'a', createdAt: null, other: 1 };
  expect(columns.toRow(record)).toEqual({ client_id: 'a', created_at: null });
});

test('fails to compile if a field has no column', () => {
  // @ts-expect-error createdAt is missing
  expect(recordColumns<Place>({ clientId: 'client_id text' }).names).toBe('client_id');
});
