import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './errors.ts';
import { forgetProcess, recordProcess } from './process-record.ts';

const STOP_STEP_MS = 15_000;
const OUTPUT_CHARACTERS_KEPT = 8_192;
const OUTPUT_GRACE_MS = 500;

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly pid: number;
  /** Settles when the process ends, for any reason. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Stops it gracefully, harder if that takes too long, and resolves once it is gone. May be called again. */
  readonly stop: () => Promise<void>;
  /** Sends SIGKILL, as a crash would, and resolves once it is gone. */
  readonly kill: () => Promise<void>;
  readonly lastOutput: () => string;
}

export interface RunningServer extends RunningProcess {
  readonly port: number;
}

export interface ProcessOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Account to run as. Ours if omitted. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  /** Open descriptors that the process gets as 3, 4 and so on. */
  readonly descriptors?: readonly number[] | undefined;
  /** Path, without suffix, of the record by which the next start finds an orphan. */
  readonly recordAt?: string | undefined;
  /** Sent one after the other. SIGKILL follows the last. */
  readonly stopSignals: readonly ['SIGINT' | 'SIGTERM', ...NodeJS.Signals[]];
  /** Time that each signal gets to take effect. */
  readonly stopStepMs?: number | undefined;
  readonly onOutput?: ((text: string) => void) | undefined;
}

/**
 * Starts a process that cannot outlive this one. It gets its own session: Ctrl-C in a terminal then reaches only this
 * process, which stops things in order. Throws StartError if the program cannot be executed.
 */
export const startProcess = async (options: ProcessOptions): Promise<RunningProcess> => {
  const [program, ...args] = options.command;
  const [firstSignal] = options.stopSignals;
  const child = spawn(program, args, {
    ...(options.account === undefined ? {} : { uid: options.account.uid, gid: options.account.gid }),
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(options.descriptors ?? [])],
  });
  const lastOutput = followOutput(child, options.onOutput);
  const exited = exitOf(child);
  const { pid } = child;
  if (pid === undefined) throw new StartError(`${program} cannot be executed (${await spawnFailure(child)}).`);
  const watchdog = watchParent(pid, firstSignal);
  const ended = exited.then((exit) => {
    watchdog.release();
    if (options.recordAt !== undefined) forgetProcess(options.recordAt);
    return exit;
  });
  const stopWith = (signals: readonly NodeJS.Signals[]) =>
    stopInSteps(child, ended, { signals, stepMs: options.stopStepMs ?? STOP_STEP_MS });
  const kill = () => stopWith([]);
  try {
    if (options.recordAt !== undefined) recordProcess(options.recordAt, pid, firstSignal);
  } catch (error) {
    await kill();
    throw error;
  }
  return { pid, exited: ended, stop: () => stopWith(options.stopSignals), kill, lastOutput };
};

const stopInSteps = async (
  child: ChildProcess,
  exited: Promise<ProcessExit>,
  { signals, stepMs }: { readonly signals: readonly NodeJS.Signals[]; readonly stepMs: number },
): Promise<void> => {
  let isGone = false;
  const whenGone = exited.then(() => {
    isGone = true;
  });
  for (const signal of [...signals, 'SIGKILL' as const]) {
    child.kill(signal);
    const timer = new AbortController();
    const step = sleep(stepMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([whenGone, step]);
    timer.abort();
    if (isGone) return;
  }
  await whenGone;
};

const followOutput = (child: ChildProcess, onOutput: ProcessOptions['onOutput']): (() => string) => {
  let kept = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      kept = `${kept}${text}`.slice(-OUTPUT_CHARACTERS_KEPT);
      onOutput?.(text);
    });
  }
  return () => kept;
};

/** Resolves once the process has ended and its output has arrived, which a grandchild could hold open for longer. */
const exitOf = (child: ChildProcess): Promise<ProcessExit> =>
  new Promise((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }));
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('exit', (code, signal) => setTimeout(resolve, OUTPUT_GRACE_MS, { code, signal }).unref());
  });

const spawnFailure = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
  });

/**
 * Signals `pid` when this process ends in any way, even by SIGKILL: a shell waits for the end of a pipe that only this
 * process holds open. `release` ends the watch once the watched process is gone.
 */
const watchParent = (pid: number, signal: NodeJS.Signals): { release: () => void } => {
  const script = `read -r line; [ "$line" = released ] || kill -${signal.replace('SIG', '')} ${pid} 2>/dev/null`;
  const shell = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a shell an orderly stop still ends the process. Only a killed parent would leave it behind.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  // A pipe is a socket in Node, and must not keep this process alive either.
  if ('unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref();
  return { release: () => shell.stdin.end('released\n') };
};
