import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BoundedLog } from './bounded-log.ts';

const LEASH = fileURLToPath(new URL('./leash.ts', import.meta.url));

/** How a process ended. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process that runs. */
export interface RunningProcess {
  pid: number;
  /** Settles when it ends, for whatever reason. Never rejects. */
  exited: Promise<ProcessExit>;
  /** Asks it to end, kills it when that takes too long; resolves once it is gone. */
  stop: () => Promise<unknown>;
  kill: () => void;
}

/** What to run. */
export interface NodeProcessOptions {
  /** Module to run. */
  script: string;
  directory: string;
  env: NodeJS.ProcessEnv;
  log: BoundedLog;
  /** How long a stop may take before it is killed. */
  graceMs: number;
}

/** Starts a Node process whose output goes to a log, and which cannot outlive us. Throws where it cannot be started. */
export const startNodeProcess = async (options: NodeProcessOptions): Promise<RunningProcess> => {
  const child = spawn(process.execPath, ['--disable-warning=DEP0060', '--import', LEASH, options.script], {
    cwd: options.directory,
    env: options.env,
    // A session of its own: Ctrl-C in a terminal must reach the supervisor alone, which then stops things in order.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => options.log.write(chunk));
  const exited = exitOf(child);
  await once(child, 'spawn');
  const { pid } = child;
  if (pid === undefined) throw new Error(`${options.script} was spawned without a pid.`);
  return {
    pid,
    exited,
    stop: () => endProcess(child, exited, options.graceMs),
    kill: () => child.kill('SIGKILL'),
  };
};

const exitOf = (child: ChildProcess): Promise<ProcessExit> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });

const endProcess = async (child: ChildProcess, exited: Promise<ProcessExit>, graceMs: number): Promise<ProcessExit> => {
  child.kill('SIGTERM');
  const patience = new AbortController();
  const timeout = sleep(graceMs, undefined, { signal: patience.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  );
  const exit = await exited;
  patience.abort();
  await timeout;
  return exit;
};
