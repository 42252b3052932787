import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findPreviousRelease } from '../src/index.ts';
import { type GitRepository, gitRepository } from './support/git-repository.ts';
import { findReleasedChanges } from './support/released-migrations.ts';

/** Changes that no service of a release misses, with the reason: they were added since, or no released code calls them. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const release = await findPreviousRelease(ROOT);

test.skipIf(release === undefined)('migrations and functions of the last release are as it left them', async () => {
  expect((await findReleasedChanges(ROOT, release ?? '')).filter((fault) => EXCEPTIONS[fault] === undefined)).toEqual(
    [],
  );
});

describe('the check of released migrations', () => {
  const FOLDER = 'services/billing/migrations';
  const FUNCTION = `-- Adds.
CREATE OR REPLACE FUNCTION add(a int, b int) RETURNS int
LANGUAGE sql AS $$ SELECT a + b $$;`;
  let repository: GitRepository;
  beforeEach(() => {
    repository = gitRepository();
    repository.write({
      [`${FOLDER}/0001_things.ts`]: 'export const up = 1;',
      [`${FOLDER}/20270101000000_add_note.ts`]: 'export const up = 2;',
      [`${FOLDER}/functions/add.sql`]: FUNCTION,
    });
    repository.commit('v1.0.0');
  });
  afterEach(() => repository.remove());
  const faults = () => findReleasedChanges(repository.folder, 'v1.0.0');

  test('accepts later migrations, functions with another body, and new ones', async () => {
    repository.write({
      [`${FOLDER}/20270201000000_add_more.ts`]: 'export const up = 3;',
      'services/auth/migrations/0001_things.ts': 'export const up = 1;',
      [`${FOLDER}/functions/add.sql`]: FUNCTION.replace('-- Adds.', '-- Sums up.').replace('a + b', 'b + a'),
      [`${FOLDER}/functions/subtract.sql`]: FUNCTION.replace('add', 'subtract'),
    });
    expect(await faults()).toEqual([]);
    repository.commit();
    expect(await faults()).toEqual([]);
  });

  test.each([
    [
      'an edited baseline',
      '0001_things.ts',
      'export const up = 9;',
      /0001_things.ts is changed, but a release has run it/,
    ],
    ['a deleted migration', '20270101000000_add_note.ts', undefined, /add_note.ts is gone, but a release has it/],
    [
      'a migration before the last',
      '0002_more.ts',
      '',
      /0002_more.ts comes before 20270101000000_add_note.ts of a release/,
    ],
    ['a deleted function', 'functions/add.sql', undefined, /add.sql is gone, but services of a release may call it/],
    ['another signature', 'functions/add.sql', FUNCTION.replace('b int', 'b bigint'), /add.sql has another signature/],
  ])('refuses %s', async (_what, file, text, fault) => {
    const files = { [`${FOLDER}/${file}`]: text };
    repository.write(files);
    expect(await faults()).toEqual([expect.stringMatching(fault)]);
    repository.commit();
    expect(await faults()).toHaveLength(1);
  });
});
