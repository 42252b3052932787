import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeDataDirectory, startStack, untilReady } from './running-stack.ts';
import { smallDisk, testWithDisk } from './small-disk.ts';

/** Starts a stack that is expected to fail and returns the line with the reason. */
const failureOf = async (dataDirectory: string, env: NodeJS.ProcessEnv = {}): Promise<string> => {
  const stack = startStack(dataDirectory, env);
  expect(await stack.exited, stack.output()).toBe(1);
  expect(stack.errors()).toMatch(/^\n[^\n]+\n$/);
  expect(stack.output()).not.toMatch(/^ready /m);
  return stack.errors().trim();
};

/** Starts a stack on a data directory and stops it. */
const useOnce = async (path: string): Promise<void> => {
  const stack = startStack(path);
  await untilReady(stack);
  stack.child.kill('SIGTERM');
  expect(await stack.exited).toBe(0);
};

test('a failed migration ends a start in one line with its reason and log', async () => {
  const data = makeDataDirectory();
  onTestFinished(data.remove);
  const log = join(data.path, 'logs', 'auth-migrate.log');
  expect(await failureOf(data.path, { FAKE_MIGRATION_FAILS: '1' })).toBe(
    'The migration of auth ended with code 1: Error: 20260101000000_x failed: relation "y" does not exist. ' +
      `See ${log}.`,
  );
  expect(readFileSync(log, 'utf8')).toContain('relation "y" does not exist');
});

describe('with a data directory that has been damaged', () => {
  const data = makeDataDirectory();
  let secrets: string;
  beforeAll(async () => {
    await useOnce(data.path);
    secrets = readFileSync(join(data.path, 'secrets.json'), 'utf8');
  });
  afterAll(() => data.remove());

  test('secrets of another database end a start in one line that holds no secret', async () => {
    const { POSTGRES_PASSWORD: password } = JSON.parse(secrets);
    const foreign = password.replaceAll(/[0-7]/g, '9');
    writeFileSync(join(data.path, 'secrets.json'), secrets.replace(password, foreign));
    const failure = await failureOf(data.path);
    expect(failure).toMatch(/^The database of \S+ cannot be created \(password authentication failed .*secrets\.json/);
    expect(failure).not.toContain(foreign);
  });

  test('lost secrets end a start in one line', async () => {
    rmSync(join(data.path, 'secrets.json'));
    expect(await failureOf(data.path)).toMatch(/secrets\.json is missing or unreadable.*Put it back/);
    writeFileSync(join(data.path, 'secrets.json'), secrets);
  });

  test('a damaged cluster ends a start in one line with its reason and log', async () => {
    truncateSync(join(data.path, 'postgres', 'global', 'pg_control'), 10);
    expect(await failureOf(data.path)).toMatch(
      /^PostgreSQL was ended by SIGABRT: .*pg_control.*See .*postgres\.log\.$/,
    );
  });

  test('a cluster without its version ends a start in one line', async () => {
    rmSync(join(data.path, 'postgres', 'PG_VERSION'));
    expect(await failureOf(data.path)).toMatch(/postgres is damaged.*Restore it from a backup, or move the directory/);
  });
});

testWithDisk('a disk that is full from the beginning ends a start in one line with the reason', async () => {
  const disk = smallDisk(24);
  expect(await failureOf(disk.path)).toMatch(/No space left on device.*Free disk space/);
  disk.fill();
  expect(await failureOf(disk.path)).toMatch(/No space left on device|ENOSPC.*Free disk space/i);
});

testWithDisk('a disk that has become full ends a start in one line and keeps the data', async () => {
  const disk = smallDisk(300);
  await useOnce(disk.path);
  disk.fill();
  expect(await failureOf(disk.path)).toMatch(/(?:No space left on device|ENOSPC).*Free disk space/i);
  disk.free();
  await useOnce(disk.path);
});

testWithDisk('a read-only disk ends a start in one line with the reason', async () => {
  const disk = smallDisk(300);
  await useOnce(disk.path);
  disk.makeReadOnly();
  expect(await failureOf(disk.path)).toMatch(/cannot be used as the data directory \(EROFS.*SVC_DATA_DIR=<path>/);
});
