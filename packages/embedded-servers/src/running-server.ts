import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerStartError } from './errors.ts';
import { forgetInstance, recordInstance } from './instance-record.ts';
import { watchParent } from './parent-watchdog.ts';

const READY_POLL_MS = 15;
const LAST_LINES_KEPT = 20;
/** Answers of a graceful stop, then of each harder signal. */
const STOP_STEP_TIMEOUT_MS = 15_000;

/** How a server process ended. */
export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server process that was started here and is to be supervised by the caller. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  /** Settles when the process ends, for whatever reason. Never rejects. */
  readonly exited: Promise<ServerExit>;
  /** Stops it gracefully, harder when that takes too long; resolves once it is gone. May be called again. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would; resolves once it is gone. */
  kill(): Promise<void>;
}

/** What to run, and how to see that it is ready. */
export interface ServerProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly identity: { readonly uid?: number; readonly gid?: number };
  readonly port: number;
  readonly dataDir: string;
  readonly stopSignals: readonly NodeJS.Signals[];
  readonly startTimeoutMs: number;
  readonly isReady: (pid: number) => Promise<boolean> | boolean;
  readonly onLog?: ((line: string) => void) | undefined;
}

/** Starts the process, waits until it is ready, and ties its life to ours. Throws ServerStartError. */
export const runServer = async (options: ServerProcessOptions): Promise<RunningServer> => {
  // A session of its own, so that Ctrl-C in a terminal reaches its supervisor, which stops things in order.
  const child = spawn(options.command, options.args, {
    ...options.identity,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  const lastLines = followOutput(child, options.onLog);
  const exited = exitOf(child);
  const { pid } = child;
  if (pid === undefined) {
    await exited.catch(() => undefined);
    throw new ServerStartError(options.name, `${options.command} cannot be executed`, lastLines);
  }
  const watchdog = watchParent(pid, options.stopSignals[0] ?? 'SIGTERM');
  recordInstance(options.dataDir, pid);
  const ended = exited.then((exit) => {
    watchdog.release();
    forgetInstance(options.dataDir);
    return exit;
  });
  const server: RunningServer = {
    pid,
    port: options.port,
    exited: ended,
    stop: () => stopInSteps(child, ended, options.stopSignals),
    kill: () => stopInSteps(child, ended, []),
  };
  await waitUntilReady(options, server, lastLines);
  return server;
};

const waitUntilReady = async (options: ServerProcessOptions, server: RunningServer, lastLines: readonly string[]) => {
  const deadline = Date.now() + options.startTimeoutMs;
  let exit: ServerExit | undefined;
  void server.exited.then((value) => {
    exit = value;
  });
  while (Date.now() < deadline) {
    if (exit !== undefined) {
      throw new ServerStartError(options.name, `it ended with ${exit.signal ?? `code ${exit.code}`}`, lastLines);
    }
    if (await options.isReady(server.pid)) return;
    await sleep(READY_POLL_MS);
  }
  await server.kill();
  throw new ServerStartError(options.name, `not ready after ${options.startTimeoutMs} ms`, lastLines);
};

const stopInSteps = async (
  child: ChildProcess,
  exited: Promise<ServerExit>,
  signals: readonly NodeJS.Signals[],
): Promise<void> => {
  let gone = false;
  const whenGone = exited.then(() => {
    gone = true;
  });
  for (const signal of [...signals, 'SIGKILL' as const]) {
    child.kill(signal);
    const timer = new AbortController();
    await Promise.race([
      whenGone,
      sleep(STOP_STEP_TIMEOUT_MS, undefined, { signal: timer.signal }).catch(() => undefined),
    ]);
    timer.abort();
    if (gone) return;
  }
  await whenGone;
};

const followOutput = (child: ChildProcess, onLog: ServerProcessOptions['onLog']): readonly string[] => {
  const lastLines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lastLines.push(line);
      if (lastLines.length > LAST_LINES_KEPT) lastLines.shift();
      onLog?.(line);
    });
  }
  return lastLines;
};

const exitOf = (child: ChildProcess): Promise<ServerExit> => {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
};
