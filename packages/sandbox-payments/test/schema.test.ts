import { fileURLToPath } from 'node:url';
import { dumpSchema } from '@svc/database';
import { testDatabase } from '@svc/testing';
import { expect, test } from 'vitest';

test('creates the schema of schema.sql', async () => {
  const database = await testDatabase({ migrations: fileURLToPath(new URL('./migrations', import.meta.url)) });
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await dumpSchema(database.url, 'sandbox_payments')).toMatchFileSnapshot(file);
  await database.drop();
});
