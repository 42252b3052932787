import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, isProcessIdentity, isStillRunning, StartError, stopOrphans } from '@svc/testing/servers';

/** Replaces a file in one step, so that a reader never sees a part of it. Only its owner can read it. */
export const writeFileAtomically = (path: string, text: string): void => {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
};

/** Returns the JSON of a file, or undefined if it is missing or malformed. */
export const readJsonFile = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/** Processes of a killed run stop by themselves. The next start signals those that take longer. */
const ORPHAN_PATIENCE_MS = 6_000;
const UNREADABLE_LOCK_POLL_MS = 50;
const UNREADABLE_LOCK_POLLS_MAX = 20;

export interface StackPaths {
  readonly cluster: string;
  readonly nats: string;
  readonly compileCache: string;
  readonly routesFile: string;
  readonly usageJournal: string;
  /** Directory of the account at the stand-in for Stripe. */
  readonly sandboxPayments: string;
  readonly migrated: string;
  readonly logs: string;
}

export const pathsOf = (dataDirectory: string): StackPaths => ({
  cluster: join(dataDirectory, 'postgres'),
  nats: join(dataDirectory, 'nats'),
  compileCache: join(dataDirectory, 'cache', 'compile'),
  routesFile: join(dataDirectory, 'routes.yaml'),
  usageJournal: join(dataDirectory, 'usage-journal'),
  sandboxPayments: join(dataDirectory, 'sandbox-payments'),
  migrated: join(dataDirectory, 'migrated.json'),
  logs: join(dataDirectory, 'logs'),
});

/**
 * Creates a data directory, locks it for this process and stops what a killed run has left there. Returns the function that
 * unlocks it. Throws StartError while another stack runs on it.
 */
export const takeDataDirectory = async (path: string): Promise<() => void> => {
  createIfMissing(path);
  const lock = join(path, 'supervisor.json');
  await takeLock(lock, path);
  const release = (): void => rmSync(lock, { force: true });
  try {
    await stopOrphans(path, ORPHAN_PATIENCE_MS);
  } catch (error) {
    release();
    throw error;
  }
  return release;
};

const createIfMissing = (path: string): void => {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `${path} cannot be used as the data directory (${reason}). Choose another one: SVC_DATA_DIR=<path>, or run as its owner.`,
    );
  }
};

const takeLock = async (lock: string, dataDirectory: string): Promise<void> => {
  for (let polls = 0; ; polls += 1) {
    try {
      writeFileSync(lock, JSON.stringify(identifyProcess(process.pid)), { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const owner = readJsonFile(lock);
    if (isProcessIdentity(owner) && isStillRunning(owner)) {
      throw new StartError(
        `${dataDirectory} is in use: the stack runs there already, as process ${owner.pid}. ` +
          'Stop that one, or start a second copy beside it with another SVC_DATA_DIR and PORT.',
      );
    }
    // Another start may have created the file and not have written it yet.
    if (owner === undefined && polls < UNREADABLE_LOCK_POLLS_MAX) await sleep(UNREADABLE_LOCK_POLL_MS);
    else rmSync(lock, { force: true });
  }
};
