import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { locatePostgres, type PostgresBinaries } from './binaries.ts';
import { checkClusterVersion, createClusterIfMissing } from './create-cluster.ts';
import { startOnPort } from './free-port.ts';
import { stopOrphan } from './instance-record.ts';
import { identifyProcess } from './process-identity.ts';
import { type RunningServer, runServer } from './running-server.ts';
import { chooseUnprivilegedRun } from './unprivileged-user.ts';

const START_TIMEOUT_MS = 60_000;
/** Line of postmaster.pid that turns to "ready" once connections are taken. */
const STATUS_LINE = 7;

/** A running PostgreSQL; `url` is the superuser's connection string to the database `postgres`. */
export interface PostgresServer extends RunningServer {
  readonly url: string;
  /** Whether this start made the cluster. */
  readonly created: boolean;
}

/** How to run PostgreSQL. */
export interface PostgresOptions {
  /** Made by initdb when it holds no cluster yet. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number | undefined;
  readonly user: string;
  /** Taken at initdb only: a later start must give the same one. */
  readonly password: string;
  /** Server settings, as in `{fsync: 'off'}`. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  readonly onLog?: ((line: string) => void) | undefined;
  readonly binaries?: PostgresBinaries | undefined;
}

/**
 * Starts PostgreSQL on the loopback address. An orphan of an earlier run on the same directory is stopped first.
 * Throws PortTakenError, PostgresVersionError, DataDirectoryInUseError, DataDirectoryUnreachableError or ServerStartError.
 */
export const startPostgres = async (options: PostgresOptions): Promise<PostgresServer> => {
  const dataDir = resolve(options.dataDir);
  const binaries = options.binaries ?? locatePostgres();
  await checkClusterVersion(binaries, dataDir);
  await stopOrphan(dataDir, 'SIGINT');
  removeStalePidFile(dataDir);
  const settings = { timezone: 'UTC', log_timezone: 'UTC', unix_socket_directories: '', ...options.flags };
  let created = false;
  const server = await startOnPort(options.port, 'PostgreSQL', async (port) => {
    created ||= await createClusterIfMissing({ binaries, dataDir, user: options.user, password: options.password });
    const { identity, wrapper } = chooseUnprivilegedRun(dataDir, [dataDir, binaries.postgres]);
    const [command = binaries.postgres, ...args] = [
      ...wrapper,
      ...[binaries.postgres, '-D', dataDir, '-h', '127.0.0.1', '-p', String(port)],
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ];
    return runServer({
      ...{ name: 'PostgreSQL', command, args, identity, port, dataDir, onLog: options.onLog },
      // Fast shutdown, then immediate shutdown.
      stopSignals: ['SIGINT', 'SIGQUIT'],
      startTimeoutMs: START_TIMEOUT_MS,
      isReady: (pid) => isReady(dataDir, pid),
    });
  });
  const credentials = `${encodeURIComponent(options.user)}:${encodeURIComponent(options.password)}`;
  return { ...server, url: `postgres://${credentials}@127.0.0.1:${server.port}/postgres`, created };
};

const isReady = (dataDir: string, pid: number): boolean => {
  const lines = readPidFile(dataDir);
  return lines?.[0] === String(pid) && lines[STATUS_LINE]?.trim() === 'ready';
};

/** After a power cut the recorded pid may belong to an unrelated process, for which PostgreSQL would refuse to start. */
const removeStalePidFile = (dataDir: string): void => {
  const pid = Number(readPidFile(dataDir)?.[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  const isPostgres = identifyProcess(pid) !== undefined && commandLineOf(pid)?.includes(dataDir) !== false;
  if (!isPostgres) rmSync(join(dataDir, 'postmaster.pid'), { force: true });
};

const commandLineOf = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return undefined;
  }
};

const readPidFile = (dataDir: string): string[] | undefined => {
  try {
    return readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
};
