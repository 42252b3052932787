import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { locatePostgres, type PostgresServer } from '../../src/servers/index.ts';
import { makePublicCopy } from '../../src/servers/postgres-programs.ts';
import { query } from './support/query.ts';
import { testAsRoot, useServers } from './support/servers.ts';

const servers = useServers();

/** Creates a directory that only root may enter, as /root is. */
const makePrivateDirectory = (): string => {
  const path = servers.path('private');
  mkdirSync(path, { mode: 0o700 });
  return path;
};

/** Installs PostgreSQL in a directory of the test. */
const install = (directory: string) => {
  const { postgres, initdb } = locatePostgres();
  cpSync(dirname(dirname(postgres)), join(directory, 'native'), { recursive: true, verbatimSymlinks: true });
  return {
    postgres: postgres.replace(/.*(?=\/bin)/, `${directory}/native`),
    initdb: initdb.replace(/.*(?=\/bin)/, `${directory}/native`),
  };
};

const statusOf = ({ pid }: PostgresServer) => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): string => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? '';
  return { uid: Number(field('Uid')), capabilities: Number.parseInt(field('CapEff'), 16), groups: field('Groups') };
};

testAsRoot('runs as another user without any capability', async () => {
  const server = await servers.postgres();
  expect(statusOf(server).uid).toBeGreaterThan(0);
  expect(statusOf(server).capabilities).toBe(0);
});

testAsRoot('starts where only root may enter the directory of the data and that of the programs', async () => {
  const directory = makePrivateDirectory();
  const options = { dataDir: `${directory}/a "strange" $name/postgres`, binaries: install(directory) };
  const first = await servers.postgres(options);
  expect(statusOf(first)).toMatchObject({ capabilities: 0 });
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  expect(statSync(options.dataDir)).toMatchObject({ uid: statusOf(first).uid });
  expect(statSync(options.dataDir).mode & 0o777).toBe(0o700);
  await first.kill();
  const second = await servers.postgres(options);
  expect(second.created).toBe(false);
  expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

testAsRoot('runs programs that a strict umask has closed from a copy that only root can change', async () => {
  const directory = servers.path('open');
  mkdirSync(directory);
  const binaries = install(directory);
  for (const path of [binaries.postgres, dirname(binaries.postgres)]) chmodSync(path, 0o700);
  const server = await servers.postgres({ binaries });
  const program = readlinkSync(`/proc/${server.pid}/exe`);
  expect(program).not.toContain(directory);
  for (let path = program; path !== '/'; path = dirname(path)) {
    const { uid, mode } = statSync(path);
    expect([path, uid, mode & 0o002]).toEqual([path, 0, mode & 0o1000 ? 0o002 : 0]);
  }
});

testAsRoot('runs as the owner of an existing data directory', async () => {
  const dataDir = servers.path('postgres');
  mkdirSync(dataDir);
  // The account daemon, which is uid 1 on Linux and macOS.
  chownSync(dataDir, 1, 1);
  expect(statusOf(await servers.postgres()).uid).toBe(1);
});

const tamperings: readonly (readonly [string, (parent: string, home: string) => void])[] = [
  ['the parent is writable to all and not sticky', (parent) => chmodSync(parent, 0o777)],
  ['another user owns the parent', (parent) => chownSync(parent, 1, 1)],
  [
    'another user owns the directory',
    (_parent, home) => {
      mkdirSync(home);
      chownSync(home, 1, 1);
    },
  ],
  ['the directory is a link', (parent, home) => symlinkSync(parent, home)],
];
testAsRoot.each(tamperings)('copies no program where %s', async (_case, tamper) => {
  const source = servers.path('source');
  const parent = servers.path('parent');
  for (const path of [source, parent]) mkdirSync(path);
  tamper(parent, join(parent, 'svc-embedded-servers'));
  await expect(makePublicCopy(source, parent)).rejects.toThrow('is not a directory of root alone');
});

testAsRoot('copies programs again where the copy is damaged, and otherwise once', async () => {
  const source = servers.path('source');
  const parent = servers.path('parent');
  for (const path of [source, parent]) mkdirSync(path);
  writeFileSync(join(source, 'program'), 'text', { mode: 0o700 });
  const copies = await Promise.all([1, 2, 3].map(() => makePublicCopy(source, parent)));
  const [copy = ''] = copies;
  expect(new Set(copies).size).toBe(1);
  expect(readdirSync(dirname(copy))).toEqual([basename(copy)]);
  expect(statSync(join(copy, 'program')).mode & 0o777).toBe(0o755);
  const { ino } = statSync(copy);
  await makePublicCopy(source, parent);
  expect(statSync(copy).ino).toBe(ino);
  rmSync(join(copy, 'program'));
  await makePublicCopy(source, parent);
  expect(readdirSync(copy)).toEqual(['program']);
});
