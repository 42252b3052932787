import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, isStillRunning, type ProcessIdentity } from '@svc/embedded-servers';
import { readJsonFile, writeFileAtomically } from './atomic-file.ts';
import { StartError } from './start-error.ts';

/** A leftover gets so long to end by itself, then again after being asked to. */
const LEFTOVER_STEP_MS = 6_000;
const POLL_MS = 30;

/** Notes which processes run on a data directory, so that the next start can end what a killed one left behind. */
export interface RunRecord {
  /** The process of this name runs with this pid now. */
  note: (name: string, pid: number) => void;
  /** Everything has ended: the data directory is free. */
  release: () => void;
}

/** Takes a data directory for this process. Ends leftovers of a killed run first. Throws StartError while another copy runs on it. */
export const openRunRecord = async (dataDirectory: string): Promise<RunRecord> => {
  const lock = join(dataDirectory, 'supervisor.json');
  const file = join(dataDirectory, 'run.json');
  takeLock(lock, dataDirectory);
  await endLeftovers(readIdentities(file));
  const running = new Map<string, ProcessIdentity>();
  return {
    note: (name, pid) => {
      const identity = identifyProcess(pid);
      if (identity === undefined) return;
      running.set(name, identity);
      writeFileAtomically(file, JSON.stringify([...running.values()]));
    },
    release: () => {
      rmSync(file, { force: true });
      rmSync(lock, { force: true });
    },
  };
};

const takeLock = (lock: string, dataDirectory: string): void => {
  for (;;) {
    try {
      writeFileSync(lock, JSON.stringify(identifyProcess(process.pid)), { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const owner = readJsonFile(lock);
    if (isIdentity(owner) && isStillRunning(owner)) {
      throw new StartError(
        `${dataDirectory} is in use: the stack runs there already, as process ${owner.pid}. ` +
          'Stop that one, or start a second copy beside it with another SVC_DATA_DIR and PORT.',
      );
    }
    rmSync(lock, { force: true });
  }
};

const endLeftovers = async (identities: readonly ProcessIdentity[]): Promise<void> => {
  for (const signal of [undefined, 'SIGTERM', 'SIGKILL'] as const) {
    const left = identities.filter(isStillRunning);
    if (left.length === 0) return;
    if (signal !== undefined) for (const { pid } of left) signalQuietly(pid, signal);
    const deadline = performance.now() + LEFTOVER_STEP_MS;
    while (left.some(isStillRunning) && performance.now() < deadline) await sleep(POLL_MS);
  }
};

const signalQuietly = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in between.
  }
};

const readIdentities = (file: string): readonly ProcessIdentity[] => {
  const json = readJsonFile(file);
  return Array.isArray(json) ? json.filter(isIdentity) : [];
};

const isIdentity = (value: unknown): value is ProcessIdentity =>
  typeof value === 'object' &&
  value !== null &&
  'pid' in value &&
  Number.isInteger(value.pid) &&
  'started' in value &&
  typeof value.started === 'string';
