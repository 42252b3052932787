import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { PostgresBinaries } from './binaries.ts';
import { PostgresVersionError, ServerStartError } from './errors.ts';
import { chooseUnprivilegedRun, fileOwner } from './unprivileged-user.ts';

const run = promisify(execFile);
const INITDB_TIMEOUT_MS = 120_000;

/** Where the cluster goes, and its superuser. */
export interface ClusterOptions {
  readonly binaries: PostgresBinaries;
  readonly dataDir: string;
  readonly user: string;
  readonly password: string;
}

/** Throws PostgresVersionError when an existing cluster is of another major version than the program. */
export const checkClusterVersion = async (binaries: PostgresBinaries, dataDir: string): Promise<void> => {
  const versionFile = join(dataDir, 'PG_VERSION');
  if (!existsSync(versionFile)) return;
  const found = readFileSync(versionFile, 'utf8').trim();
  const { stdout } = await run(binaries.postgres, ['--version'], { timeout: 10_000 });
  const wanted = /(\d+)[.\w]*\s*$/.exec(stdout.trim())?.[1] ?? '';
  if (found !== wanted) throw new PostgresVersionError(dataDir, found, wanted);
};

/**
 * Runs initdb unless the directory already holds a cluster. It is made beside and renamed, so that an interrupted
 * initdb leaves nothing that looks like a cluster. Text sorts by code point, whatever the machine's locale.
 */
export const createClusterIfMissing = async (options: ClusterOptions): Promise<boolean> => {
  const { dataDir } = options;
  if (existsSync(join(dataDir, 'PG_VERSION'))) return false;
  mkdirSync(dirname(dataDir), { recursive: true });
  const suffix = randomBytes(4).toString('hex');
  const draft = join(dirname(dataDir), `${basename(dataDir)}.new-${suffix}`);
  const passwordFile = `${draft}.password`;
  const owner = fileOwner(dataDir);
  try {
    mkdirSync(draft, { mode: 0o700 });
    writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
    if (owner !== undefined) for (const path of [draft, passwordFile]) chownSync(path, owner.uid, owner.gid);
    await initialise(options, draft, passwordFile);
    rmSync(dataDir, { recursive: true, force: true });
    renameSync(draft, dataDir);
    return true;
  } finally {
    for (const path of [draft, passwordFile]) rmSync(path, { recursive: true, force: true });
  }
};

const initialise = async (options: ClusterOptions, draft: string, passwordFile: string): Promise<void> => {
  const { identity, wrapper } = chooseUnprivilegedRun(draft, [draft, options.binaries.initdb]);
  const initdb = [options.binaries.initdb, '--pgdata', draft, '--username', options.user, '--pwfile', passwordFile];
  const settings = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync'];
  const [command, ...args] = [...wrapper, ...initdb, ...settings];
  if (command === undefined) return;
  try {
    await run(command, args, { ...identity, timeout: INITDB_TIMEOUT_MS, env: { LC_ALL: 'C', TZ: 'UTC' } });
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new ServerStartError('PostgreSQL', 'initdb failed', stderr.trim().split('\n'));
  }
};
