import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectoryInUseError, StartError } from './errors.ts';

/** A process, told apart from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the unit of the operating system. */
  readonly started: string;
}

/** Returns the identity of a running process. A zombie does not count as running. */
export const identifyProcess = (pid: number): ProcessIdentity | undefined => {
  const started = process.platform === 'linux' ? startTicksFromProc(pid) : startTimeFromPs(pid);
  return started === undefined ? undefined : { pid, started };
};

export const isStillRunning = (identity: ProcessIdentity): boolean =>
  identifyProcess(identity.pid)?.started === identity.started;

/** Checks JSON that another run has written. */
export const isProcessIdentity = (value: unknown): value is ProcessIdentity =>
  typeof value === 'object' &&
  value !== null &&
  'pid' in value &&
  Number.isInteger(value.pid) &&
  'started' in value &&
  typeof value.started === 'string';

const startTicksFromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name (field 2) may contain spaces and parentheses, so count from its last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
};

const startTimeFromPs = (pid: number): string | undefined => {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 });
    return line.trim().startsWith('Z') ? undefined : line.trim().replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
};

const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 25;
const SUFFIX = '.instance.json';

/** A process, its supervisor and how to stop it: written to a file, so that the next start finds an orphan. */
interface ProcessRecord {
  readonly server: ProcessIdentity;
  readonly owner: ProcessIdentity;
  readonly stopSignal: NodeJS.Signals;
}

/** Records that this process supervises process `pid`. `path` is that of the record without its suffix. */
export const recordProcess = (path: string, pid: number, stopSignal: NodeJS.Signals): void => {
  const server = identifyProcess(pid);
  const owner = identifyProcess(process.pid);
  if (server === undefined || owner === undefined) return;
  const record: ProcessRecord = { server, owner, stopSignal };
  writeFileSync(`${path}${SUFFIX}`, JSON.stringify(record), { mode: 0o600 });
};

export const forgetProcess = (path: string): void => {
  rmSync(`${path}${SUFFIX}`, { force: true });
};

/**
 * Stops the recorded process if its supervisor is gone, after giving it `patienceMs` to end by itself.
 * Throws DataDirectoryInUseError while a supervisor, this process included, still has it.
 */
export const stopOrphan = async (path: string, patienceMs = 0): Promise<void> => {
  const record = readRecord(path);
  if (record === undefined) return;
  if (isStillRunning(record.server)) {
    if (isStillRunning(record.owner)) throw new DataDirectoryInUseError(path, record.server.pid, record.owner.pid);
    await stopProcess(record, patienceMs);
  }
  forgetProcess(path);
};

export const stopOrphans = async (directory: string, patienceMs = 0): Promise<void> => {
  const records = readdirSync(directory).filter((name) => name.endsWith(SUFFIX));
  await Promise.all(records.map((name) => stopOrphan(join(directory, name.slice(0, -SUFFIX.length)), patienceMs)));
};

const stopProcess = async ({ server, stopSignal }: ProcessRecord, patienceMs: number): Promise<void> => {
  if (await endsWithin(server, patienceMs)) return;
  for (const signal of [stopSignal, 'SIGKILL'] as const) {
    signalQuietly(server.pid, signal);
    if (await endsWithin(server, STOP_TIMEOUT_MS)) return;
  }
  throw new StartError(`Process ${server.pid}, left over from an earlier run, cannot be stopped. Stop it by hand.`);
};

const endsWithin = async (identity: ProcessIdentity, milliseconds: number): Promise<boolean> => {
  const deadline = performance.now() + milliseconds;
  while (isStillRunning(identity)) {
    if (performance.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
};

const readRecord = (path: string): ProcessRecord | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(`${path}${SUFFIX}`, 'utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const isRecord = (value: unknown): value is ProcessRecord =>
  typeof value === 'object' &&
  value !== null &&
  'server' in value &&
  isProcessIdentity(value.server) &&
  'owner' in value &&
  isProcessIdentity(value.owner) &&
  'stopSignal' in value &&
  (value.stopSignal === 'SIGINT' || value.stopSignal === 'SIGTERM');

const signalQuietly = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended in the meantime.
  }
};
