import { idOf, newId } from '@svc/contracts';
import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compactIdsMigration, createDatabase } from '../src/index.ts';
import { emptyDatabase } from './support/empty-database.ts';

let database: Knex;
beforeAll(async () => {
  database = createDatabase(await emptyDatabase(), { poolMax: 1 });
  await compactIdsMigration(database);
});
afterAll(() => database.destroy());

const TIME_MAX = 2 ** 48 - 1;
const randomId = () => idOf('req', Math.floor(Math.random() * TIME_MAX), crypto.getRandomValues(new Uint8Array(16)));

test('keeps each id, its order and its time', async () => {
  const given = [
    ...Array.from({ length: 500 }, randomId),
    idOf('req', 0, new Uint8Array(16)),
    idOf('req', TIME_MAX, new Uint8Array(16).fill(31)),
  ];
  const { rows } = await database.raw(
    `SELECT id_of_uuid('req', uuid_of_id('req', id)) AS id, round(extract(epoch FROM time_of_uuid(uuid_of_id('req', id))) * 1000)::float8 AS ms
     FROM unnest(?::text[]) AS t (id) ORDER BY uuid_of_id('req', id)`,
    [given],
  );
  expect(rows.map(({ id }: { id: string }) => id)).toEqual(given.toSorted());
  const at = 1_790_000_000_123;
  const [found] = (
    await database.raw("SELECT time_of_uuid(uuid_of_id('req', ?)) AS at", [idOf('req', at, new Uint8Array(16))])
  ).rows;
  expect(found.at.getTime()).toBe(at);
});

test.each([
  '',
  'req_',
  'req_1',
  newId('usr'),
  `req_8${'0'.repeat(25)}`,
  `req_0${'u'.repeat(25)}`,
  `req_${'0'.repeat(27)}`,
  `xreq_${'0'.repeat(26)}`,
])('has no bits for %j, which is no request id', async (text) => {
  const { rows } = await database.raw("SELECT uuid_of_id('req', ?) AS bits", [text]);
  expect(rows).toEqual([{ bits: null }]);
});
