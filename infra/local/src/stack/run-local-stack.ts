import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@svc/testing/servers';
import { exists, listPackageManagers } from '../process/package-managers.ts';
import { pathsOf } from './data-directory.ts';
import { createReport, readablePath } from './report.ts';
import { readSettings, type StackSettings } from './settings.ts';
import { type LocalStack, startLocalStack } from './start-local-stack.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const MANAGER_POLL_MS = 500;
/** One Ctrl-C can arrive several times: from the terminal and from package managers. */
const ECHO_MS = 1_000;

/**
 * Returns a signal that aborts at the first request to stop: a signal, or the end of the foreground process or of a package
 * manager above it. `again` is called for a second signal.
 */
const listenForStop = (handlers: { first: () => void; again: () => void }): AbortSignal => {
  const stop = new AbortController();
  let askedAt = 0;
  const ask = (): void => {
    if (stop.signal.aborted) return;
    askedAt = performance.now();
    handlers.first();
    stop.abort();
  };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (stop.signal.aborted && performance.now() - askedAt > ECHO_MS) handlers.again();
      ask();
    });
  }
  process.on('disconnect', ask);
  const managers = listPackageManagers(process.ppid);
  const poll = setInterval(() => {
    if (!managers.every(exists)) ask();
  }, MANAGER_POLL_MS);
  poll.unref();
  return stop.signal;
};

/** Advice by what the operating system says, wherever in a start it says so. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/ENOSPC|EDQUOT|No space left|quota exceeded/i, 'Free disk space, or set SVC_DATA_DIR to a path on another disk.'],
  [
    /EROFS|EACCES|EPERM|Read-only file system|Permission denied|Operation not permitted/i,
    'Set SVC_DATA_DIR to a path on a disk that this user may write to.',
  ],
  [/EMFILE|ENFILE|Too many open files/i, 'Raise the limit of open files: ulimit -n 8192.'],
  [/ENOMEM|Cannot allocate memory|Out of memory/i, 'Free memory: the product takes about 1.5 GB.'],
];

/** Runs the stack until it is asked to stop, and returns the exit code. A second signal ends it at once. */
export const runLocalStack = async (
  env: NodeJS.ProcessEnv,
  adjust: (settings: StackSettings) => StackSettings = (settings) => settings,
): Promise<number> => {
  // The reader of our output may be gone.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const report = createReport((text) => process.stdout.write(text));
  let stack: LocalStack | undefined;
  let settings: StackSettings | undefined;
  const signal = listenForStop({
    first: () => report.line('stopping (once more to kill everything at once)'),
    again: () => {
      stack?.kill();
      process.exit(130);
    },
  });
  try {
    settings = adjust(readSettings(env, process.cwd()));
    stack = await startLocalStack(settings, { report, signal });
    await untilAborted(signal);
    await stack.stop();
  } catch (error) {
    if (!signal.aborted) {
      process.stderr.write(`\n${describeFailure(error, settings)}\n`);
      return 1;
    }
  }
  report.line('stopped');
  return 0;
};

/** Describes a failure in one line that ends with what to do. The stack of an unexpected one goes to a log. */
const describeFailure = (error: unknown, settings: StackSettings | undefined): string => {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ');
  const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1];
  if (error instanceof StartError)
    return message.includes('SVC_DATA_DIR') ? message : [message, advice].join(' ').trim();
  const log = settings === undefined ? undefined : join(pathsOf(settings.dataDirectory).logs, 'supervisor.log');
  const isLogged = log !== undefined && appendQuietly(log, error);
  return [`The stack cannot start: ${message}.`, advice, isLogged ? `See ${readablePath(log)}.` : '']
    .filter(Boolean)
    .join(' ');
};

const appendQuietly = (path: string, error: unknown): boolean => {
  try {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    appendFileSync(path, `${new Date().toISOString()} ${text}\n`, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
