import { randomBytes } from 'node:crypto';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  createSealer,
  openSecretKeys,
  requireSecretKeys,
  type SecretUse,
  secretChecksMigration,
} from '../src/index.ts';
import { countStoredValues, renewStoredValues } from '../src/stored-values.ts';

const [first, second] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('hex')) as [string, string];
const never = { isTimeUp: () => false };
let source: TestDatabase;
let database: Knex;

beforeAll(async () => {
  source = await testDatabase();
  database = source.knex;
  await secretChecksMigration(database);
  await database.raw('CREATE TABLE notes (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), owner text, sealed bytea)');
});
afterAll(() => source.drop());
beforeEach(async () => {
  await database('notes').delete();
  await database('secret_checks').delete();
});

const notes = (...entries: string[]) => {
  const keys = openSecretKeys('NOTES_KEY', entries);
  const sealer = createSealer(keys, 'notes');
  const use: SecretUse = {
    keys,
    columns: [
      {
        table: 'notes',
        column: 'sealed',
        id: 'id',
        idType: 'uuid',
        reads: ['owner'],
        renew: (value, { owner }) => sealer.renew(value, String(owner)),
      },
    ],
  };
  return { sealer, use };
};

const insert = async ({ sealer }: ReturnType<typeof notes>, count: number) => {
  const rows: { owner: string; sealed: Buffer | null }[] = Array.from({ length: count }, (_, index) => ({
    owner: `owner ${index}`,
    sealed: sealer.seal(Buffer.from(`note ${index}`), `owner ${index}`),
  }));
  await database.batchInsert('notes', [...rows, { owner: 'none', sealed: null }]);
};

test('a start with another key is refused, even if only the check value was stored', async () => {
  await requireSecretKeys(database, [notes(first).use]);
  await requireSecretKeys(database, [notes(first).use]);
  await expect(requireSecretKeys(database, [notes(second).use])).rejects.toThrow(
    /^NOTES_KEY lacks the key [0-9a-f]{16}, under which secret_checks.sealed holds values$/,
  );
  await expect(requireSecretKeys(database, [notes(second, first).use])).resolves.toBeUndefined();
});

test('moves every value to the first key, after which the other key is no longer needed', async () => {
  await requireSecretKeys(database, [notes(first).use]);
  await insert(notes(first), 1_203);
  const rotated = notes(second, first);
  await expect(requireSecretKeys(database, [notes(second).use])).rejects.toThrow('notes.sealed');
  const counts = async () => (await countStoredValues(database, [rotated.use])).map(({ values }) => values);
  expect(await counts()).toEqual([0, 1_204]);
  expect(await renewStoredValues(database, [rotated.use], never)).toEqual({ renewed: 1_204, isDone: true });
  expect(await counts()).toEqual([1_204, 0]);
  await requireSecretKeys(database, [notes(second).use]);
  for (const { owner, sealed } of await database('notes').whereNotNull('sealed')) {
    expect(notes(second).sealer.unseal(sealed, owner).toString()).toBe(owner.replace('owner', 'note'));
  }
  expect(await renewStoredValues(database, [rotated.use], never)).toEqual({ renewed: 0, isDone: true });
});

test('says that values remain if a transaction has locked them or time is up', async () => {
  await requireSecretKeys(database, [notes(first).use]);
  await insert(notes(first), 3);
  const rotated = notes(second, first);
  let removals = 0;
  const beforeRemoval = async () => {
    removals += 1;
  };
  const use = { ...rotated.use, beforeRemoval };
  await database.transaction(async (trx) => {
    await trx('notes').where({ owner: 'owner 1' }).forUpdate();
    expect(await renewStoredValues(database, [use], never)).toEqual({ renewed: 2, isDone: false });
  });
  expect(await renewStoredValues(database, [use], { isTimeUp: () => true })).toEqual({ renewed: 0, isDone: false });
  expect(removals).toBe(0);
  expect(await renewStoredValues(database, [use], never)).toEqual({ renewed: 2, isDone: true });
  expect(removals).toBe(1);
});
