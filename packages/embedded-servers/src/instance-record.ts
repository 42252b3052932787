import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectoryInUseError, EmbeddedServerError } from './errors.ts';
import { identifyProcess, isStillRunning, type ProcessIdentity } from './process-identity.ts';

const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 25;

/** Which server process uses a data directory, and who supervises it; kept in a file beside the directory. */
interface InstanceRecord {
  readonly server: ProcessIdentity;
  readonly owner: ProcessIdentity;
}

/** Notes that this process supervises that server on that directory. */
export const recordInstance = (dataDir: string, serverPid: number): void => {
  const server = identifyProcess(serverPid);
  const owner = identifyProcess(process.pid);
  if (server === undefined || owner === undefined) return;
  const record: InstanceRecord = { server, owner };
  writeFileSync(recordPath(dataDir), JSON.stringify(record), { mode: 0o600 });
};

/** Forgets the server of that directory, because it has ended. */
export const forgetInstance = (dataDir: string): void => {
  rmSync(recordPath(dataDir), { force: true });
};

/**
 * Makes sure that no recorded server uses the directory: an orphan, whose supervisor is gone, is stopped.
 * Throws DataDirectoryInUseError while a living supervisor, even this process, has one there.
 */
export const stopOrphan = async (dataDir: string, signal: NodeJS.Signals): Promise<void> => {
  const record = readRecord(dataDir);
  if (record === undefined) return;
  if (isStillRunning(record.server)) {
    if (isStillRunning(record.owner)) {
      throw new DataDirectoryInUseError(dataDir, record.server.pid, record.owner.pid);
    }
    await stopProcess(record.server, signal);
  }
  forgetInstance(dataDir);
};

/** Signals a process that is not our child and waits for its end; kills it when that takes too long. */
const stopProcess = async (identity: ProcessIdentity, signal: NodeJS.Signals): Promise<void> => {
  for (const attempt of [signal, 'SIGKILL'] as const) {
    signalQuietly(identity.pid, attempt);
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (Date.now() < deadline) {
      if (!isStillRunning(identity)) return;
      await sleep(POLL_MS);
    }
  }
  throw new EmbeddedServerError(`Process ${identity.pid}, left by an earlier run, cannot be stopped.`);
};

const readRecord = (dataDir: string): InstanceRecord | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(recordPath(dataDir), 'utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const isRecord = (value: unknown): value is InstanceRecord => {
  if (typeof value !== 'object' || value === null) return false;
  return 'server' in value && isIdentity(value.server) && 'owner' in value && isIdentity(value.owner);
};

const isIdentity = (value: unknown): value is ProcessIdentity => {
  if (typeof value !== 'object' || value === null) return false;
  return 'pid' in value && typeof value.pid === 'number' && 'started' in value && typeof value.started === 'string';
};

const recordPath = (dataDir: string): string => {
  return `${dataDir}.instance.json`;
};

const signalQuietly = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in between.
  }
};
