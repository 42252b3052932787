import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessEndedError, ProcessError } from './errors.ts';
import type { ProcessExit, RunningProcess } from './start-process.ts';

const MARKS = [/\b(?:FATAL|PANIC|FTL)\b/, /^(?:[\w.]*Error|error)\b.*:/, /\b(?:ERROR|ERR)\b|^\w+: error:/];

const CHARACTERS_MAX = 300;

const POLL_MS = 20;

export interface ReadinessOptions {
  readonly name: string;
  readonly isReady: (pid: number) => Promise<boolean> | boolean;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until a process is ready. Throws ProcessEndedError if it ends before, ProcessError if it takes too long, and the
 * reason of the signal. In all three cases the process is gone.
 */
export const waitUntilReady = async (running: RunningProcess, options: ReadinessOptions): Promise<void> => {
  const { name, timeoutMs, signal } = options;
  const deadline = performance.now() + timeoutMs;
  let exit: ProcessExit | undefined;
  // A probe may hang for long after the process has ended.
  const interrupted = Promise.withResolvers<false>();
  const interrupt = (): void => interrupted.resolve(false);
  void running.exited.then((value) => {
    exit = value;
    interrupt();
  });
  signal?.addEventListener('abort', interrupt);
  try {
    while (exit === undefined && signal?.aborted !== true && performance.now() < deadline) {
      if (await Promise.race([options.isReady(running.pid), interrupted.promise])) return;
      await sleep(POLL_MS);
    }
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
  if (exit !== undefined) throw new ProcessEndedError(`${name} ${describeEnd(exit, running.lastOutput())}`);
  await running.stop();
  signal?.throwIfAborted();
  const output = tellingLine(running.lastOutput());
  throw new ProcessError(`${name} is not ready after ${timeoutMs / 1000} s${output === '' ? '' : `: ${output}`}`);
};

/** Describes the end of a process and, from its output, the reason: `ended with code 1: the disk is full`. */
export const describeEnd = ({ code, signal }: ProcessExit, output = ''): string => {
  // A killed process could not say why.
  const reason = signal === 'SIGKILL' ? '' : tellingLine(output);
  return `${signal === null ? `ended with code ${code}` : `was ended by ${signal}`}${reason === '' ? '' : `: ${reason}`}`;
};

/**
 * Returns the line of a process's output that says why it failed: of a PostgreSQL or NATS log, of our JSON logs, or of an
 * uncaught exception. Otherwise the last line.
 */
export const tellingLine = (output: string): string => {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .reverse();
  const logged = lines.map(readLogLine).find((line) => line !== undefined);
  const marked = MARKS.map((mark) => lines.find((line) => mark.test(line))).find((line) => line !== undefined);
  return (logged ?? marked ?? lines[0] ?? '').slice(0, CHARACTERS_MAX);
};

/** Returns message, faults and error of a JSON log line with level error or fatal. */
const readLogLine = (line: string): string | undefined => {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, message, faults, err } = JSON.parse(line);
    if (level !== 'error' && level !== 'fatal') return undefined;
    return [message, ...(Array.isArray(faults) ? faults : []), err?.message].filter(Boolean).join(': ');
  } catch {
    return undefined;
  }
};
