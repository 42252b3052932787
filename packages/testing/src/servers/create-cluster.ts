import { randomBytes } from 'node:crypto';
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ProcessEndedError, ProcessError, StartError } from './errors.ts';
import type { PostgresPrograms } from './postgres-programs.ts';
import type { ServerAccount } from './server-account.ts';
import { createDirectory } from './server-account.ts';
import { type RunningProcess, startProcess } from './start-process.ts';
import { describeEnd } from './wait-until-ready.ts';

interface JobOptions {
  readonly name: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Two seconds on a laptop, minutes on a slow network disk. */
const INITDB_TIMEOUT_MS = 600_000;

export interface ClusterOptions {
  readonly programs: PostgresPrograms;
  readonly account: ServerAccount | undefined;
  readonly dataDir: string;
  readonly user: string;
  readonly password: string;
  readonly signal?: AbortSignal | undefined;
}

/** Throws StartError if the directory holds anything but a cluster of the programs' own major version. */
export const checkCluster = ({ majorVersion }: PostgresPrograms, dataDir: string): void => {
  if (isMissingOrEmpty(dataDir)) return;
  const found = readVersion(dataDir);
  if (found === majorVersion) return;
  const isVersion = /^\d+$/.test(found);
  throw new StartError(
    isVersion
      ? `${dataDir} holds a PostgreSQL ${found} database, but this release runs PostgreSQL ${majorVersion}. ` +
          'Dump it with the old version and restore it, or move the directory away to start empty.'
      : `${dataDir} is damaged: it is not empty, but its file PG_VERSION holds no version. ` +
          'Restore it from a backup, or move the directory away to start empty.',
  );
};

/**
 * Runs initdb if the directory is missing or empty, and returns whether it did. initdb works beside it, and the result is
 * renamed: an interrupted one leaves nothing that looks like a cluster. Text sorts by code point on every machine.
 */
export const createClusterIfMissing = async (options: ClusterOptions): Promise<boolean> => {
  const { dataDir, account } = options;
  if (!isMissingOrEmpty(dataDir)) return false;
  mkdirSync(dirname(dataDir), { recursive: true });
  const draft = `${dataDir}.new-${randomBytes(4).toString('hex')}`;
  const handle = createDirectory(draft, account);
  try {
    const passwordFile = join(handle.path, 'password');
    writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
    if (account !== undefined) chownSync(passwordFile, account.uid, account.gid);
    await runInitdb(options, { path: handle.childPath, descriptors: handle.descriptors });
    if (statSync(dataDir, { throwIfNoEntry: false }) !== undefined) rmdirSync(dataDir);
    renameSync(join(draft, 'data'), dataDir);
    return true;
  } finally {
    handle.close();
    rmSync(draft, { recursive: true, force: true });
  }
};

const isMissingOrEmpty = (dataDir: string): boolean =>
  statSync(dataDir, { throwIfNoEntry: false }) === undefined || readdirSync(dataDir).length === 0;

const readVersion = (dataDir: string): string => {
  try {
    return readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  } catch {
    return '';
  }
};

const runInitdb = async (
  { programs, account, user, dataDir, signal }: ClusterOptions,
  draft: { readonly path: string; readonly descriptors: readonly number[] },
): Promise<void> => {
  const target = ['--pgdata', `${draft.path}/data`, '--username', user, '--pwfile', `${draft.path}/password`];
  const settings = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync'];
  const initdb = await startProcess({
    command: [programs.initdb, ...target, ...settings],
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' },
    account,
    descriptors: draft.descriptors,
    stopSignals: ['SIGTERM'],
  });
  const described = { ...initdb, lastOutput: () => initdb.lastOutput().replaceAll(`${draft.path}/data`, dataDir) };
  await runToEnd(described, { name: 'initdb, which creates the database,', timeoutMs: INITDB_TIMEOUT_MS, signal });
};

/**
 * Waits for a process that does one job and ends. Throws ProcessError if it fails or takes too long, and the reason of the
 * signal; the process is gone then.
 */
export const runToEnd = async (running: RunningProcess, { name, timeoutMs, signal }: JobOptions): Promise<void> => {
  const timeout = AbortSignal.timeout(timeoutMs);
  const abandoned = AbortSignal.any(signal === undefined ? [timeout] : [timeout, signal]);
  const stop = (): void => void running.stop();
  if (abandoned.aborted) stop();
  abandoned.addEventListener('abort', stop, { once: true });
  const exit = await running.exited;
  abandoned.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  if (timeout.aborted) throw new ProcessError(`${name} has not ended after ${timeoutMs / 1000} s`);
  if (exit.code !== 0) throw new ProcessEndedError(`${name} ${describeEnd(exit, running.lastOutput())}`);
};
