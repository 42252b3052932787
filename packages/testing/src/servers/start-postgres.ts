import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { locatePostgres, type PostgresBinaries } from './binaries.ts';
import { checkCluster, createClusterIfMissing } from './create-cluster.ts';
import { startOnPort } from './free-port.ts';
import { type PostgresPrograms, preparePrograms } from './postgres-programs.ts';
import { identifyProcess, stopOrphan } from './process-record.ts';
import { chooseAccount, openDirectory, type ServerAccount } from './server-account.ts';
import { type RunningServer, startProcess } from './start-process.ts';
import { waitUntilReady } from './wait-until-ready.ts';

const START_TIMEOUT_MS = 600_000;
/** Line of postmaster.pid that turns to "ready" once connections are accepted. */
const STATUS_LINE = 7;

/** A running PostgreSQL. `url` is the superuser's connection string to the database `postgres`. */
export interface PostgresServer extends RunningServer {
  readonly url: string;
  readonly created: boolean;
}

export interface PostgresOptions {
  /** Created by initdb if it holds no cluster yet. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number | undefined;
  readonly user: string;
  /** Read at initdb only: a later start must pass the same one. */
  readonly password: string;
  readonly flags?: Readonly<Record<string, string>> | undefined;
  readonly onOutput?: ((text: string) => void) | undefined;
  readonly binaries?: PostgresBinaries | undefined;
  /** Gives up the start; nothing is left running then. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts PostgreSQL on the loopback address, after stopping an orphan of an earlier run on the same directory.
 * Throws StartError, PortTakenError or DataDirectoryInUseError.
 */
export const startPostgres = async (options: PostgresOptions): Promise<PostgresServer> => {
  const { user, password, signal } = options;
  const dataDir = resolve(options.dataDir);
  const account = chooseAccount(dataDir);
  const programs = await preparePrograms(options.binaries ?? locatePostgres(), account);
  checkCluster(programs, dataDir);
  await stopOrphan(dataDir);
  removeStalePidFile(dataDir);
  let created = false;
  const server = await startOnPort(options.port, 'PostgreSQL', async (port) => {
    created ||= await createClusterIfMissing({ programs, account, dataDir, user, password, signal });
    return await runPostgres({ ...options, dataDir }, { programs, account, port });
  });
  const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  return { ...server, url: `postgres://${credentials}@127.0.0.1:${server.port}/postgres`, created };
};

const runPostgres = async (
  { dataDir, flags, onOutput, signal }: PostgresOptions,
  { programs, account, port }: { programs: PostgresPrograms; account: ServerAccount | undefined; port: number },
): Promise<RunningServer> => {
  const settings = { timezone: 'UTC', log_timezone: 'UTC', unix_socket_directories: '', ...flags };
  const assignments = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const directory = openDirectory(dataDir, account);
  const location = ['-D', directory.childPath, '-h', '127.0.0.1', '-p', String(port)];
  try {
    const running = await startProcess({
      command: [programs.postgres, ...location, ...assignments],
      cwd: '/',
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' },
      account,
      descriptors: directory.descriptors,
      recordAt: dataDir,
      // Fast shutdown, then immediate shutdown.
      stopSignals: ['SIGINT', 'SIGQUIT'],
      onOutput,
    });
    const described = { ...running, lastOutput: () => running.lastOutput().replaceAll(directory.childPath, dataDir) };
    const isReady = (pid: number): boolean => isAccepting(dataDir, pid);
    await waitUntilReady(described, { name: 'PostgreSQL', timeoutMs: START_TIMEOUT_MS, isReady, signal });
    return { ...described, port };
  } finally {
    directory.close();
  }
};

const isAccepting = (dataDir: string, pid: number): boolean => {
  const lines = readPidFile(dataDir);
  return lines?.[0] === String(pid) && lines[STATUS_LINE]?.trim() === 'ready';
};

/** After a power cut the recorded pid may belong to another program, for which PostgreSQL would refuse to start. */
const removeStalePidFile = (dataDir: string): void => {
  const pid = Number(readPidFile(dataDir)?.[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  if (identifyProcess(pid) === undefined || runsElsewhere(pid, dataDir)) {
    rmSync(join(dataDir, 'postmaster.pid'), { force: true });
  }
};

/**
 * Returns true if a process is not a server of this directory: PostgreSQL changes into its data directory. Linux only.
 */
const runsElsewhere = (pid: number, dataDir: string): boolean => {
  if (process.platform !== 'linux') return false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) !== realpathSync(dataDir);
  } catch {
    // Another user's process, so not one of our servers.
    return true;
  }
};

const readPidFile = (dataDir: string): string[] | undefined => {
  try {
    return readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
};
