import { expect, test } from 'vitest';
import { testDatabase, testNats, testTokens } from '../src/index.ts';

test('a database of its own', async () => {
  const database = await testDatabase();
  expect((await database.knex.raw('SELECT 9007199254740991::int8 AS n')).rows[0].n).toBe(9007199254740991);
  await database.drop();
});
test('nats', async () => {
  const nats = await testNats();
  await nats.wipe();
  await nats.stop();
  const t = await testTokens();
  await t.stop();
});
